#nullable enable
using System;
using System.Collections.Generic;
using System.Threading.Tasks;

namespace Shop.Orders;

/// <summary>
/// Accepts orders and reports their state.
/// </summary>
/// <typeparam name="TKey">The type of the order number.</typeparam>
[Serializable]
public sealed class OrderService<TKey> : IOrderService<TKey>, IDisposable
    where TKey : notnull
{
    private const int RetriesMax = 3;
    private static readonly TimeSpan Timeout = TimeSpan.FromSeconds(30);
    private readonly Dictionary<TKey, Order> _orders = new Dictionary<TKey, Order>(
        EqualityComparer<TKey>.Default);

    /// <summary>Happens after an order was accepted.</summary>
    public event EventHandler<OrderEventArgs>? Accepted;

    public OrderService(IClock clock, ILogger<OrderService<TKey>> logger)
        : base(clock)
    {
        _clock = clock;
        _logger = logger;
    }

    /// <summary>The number of open orders.</summary>
    public int Count => _orders.Count;

    public string Name { get; private set; } = "orders";

    public decimal Total
    {
        get
        {
            decimal sum = 0;
            foreach (var order in _orders.Values) { sum += order.Price; }
            return sum;
        }
        protected set => throw new NotSupportedException();
    }

    public Order this[TKey key]
    {
        get { return _orders[key]; }
        set { _orders[key] = value; }
    }

    /// <inheritdoc />
    public async Task<bool> AcceptAsync(TKey key, Order order, CancellationToken cancel = default)
    {
        for (var attempt = 0; attempt < RetriesMax; attempt++)
        {
            if (await TrySend($"order {key} costs {order.Price:C}", cancel)) return true;
        }
        return false;
    }

    #region Private

    // Not part of the interface.
    private bool IsOpen(TKey key) => _orders.TryGetValue(key, out var order)
        && order.State is OrderState.New or OrderState.Paid;

    #endregion

#if DEBUG
    internal void Dump(string path)
    {
        File.WriteAllText(path, ToString());
    }
#endif

    public static explicit operator int(OrderService<TKey> service) => service.Count;

    public static bool operator ==(OrderService<TKey> left, OrderService<TKey> right)
    {
        return ReferenceEquals(left, right);
    }

    void IDisposable.Dispose()
    {
        _orders.Clear();
    }

    ~OrderService()
    {
        Console.WriteLine("finalized");
    }

    private sealed class Retry
    {
        public int Count;
        public Action<int> Then = attempt =>
        {
            Console.WriteLine(attempt);
        };
    }
}

/// <summary>
/// The state of an order.
/// </summary>
public enum OrderState
{
    /// <summary>Not paid yet.</summary>
    New,
    Paid = 10,
    [Obsolete("Use Paid.")]
    Settled,
}

public interface IOrderService<TKey>
{
    /// <summary>Accepts an order.</summary>
    Task<bool> AcceptAsync(TKey key, Order order, CancellationToken cancel = default);

    int Count { get; }
}

public record Order(string Customer, decimal Price)
{
    public OrderState State { get; init; }
}

public readonly record struct Point(double X, double Y);

public delegate void OrderHandler<in T>(object sender, T order) where T : Order;
