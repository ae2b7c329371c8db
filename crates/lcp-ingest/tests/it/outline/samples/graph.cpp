#include <memory>
#include <vector>

using std::vector;

namespace graph {

template <typename T>
concept Weight = requires(T a) { a + a; };

/// A node of a graph.
/// It has edges.
template <Weight T, int N = 4>
class Node final : public Base, private Other<T> {
 public:
    using Ptr = std::shared_ptr<Node<T, N>>;

    /// Makes one.
    explicit Node(T weight) : weight_(weight), edges_{} {
        count_++;
    }
    virtual ~Node() = default;

    Node& operator=(const Node& other) {
        weight_ = other.weight_;
        return *this;
    }

    template <typename F>
    void visit(F&& f) const;

    /** Its weight. */
    T weight() const noexcept { return weight_; }

 private:
    T weight_ = T{};
    vector<Ptr> edges_;
    static inline int count_ = 0;

    enum class Mark : unsigned char {
        None,
        Seen,
        Done,
    };
};

template <Weight T, int N>
template <typename F>
void Node<T, N>::visit(F&& f) const {
    for (auto& edge : edges_) f(*edge);
}

constexpr int kTable[] = {
    1, 2, 3, 4, 5, 6, 7, 8,
};

auto make = [](int x) -> int {
    return x + 1;
};

namespace {
int hidden(int x) { return x; }
}  // namespace

}  // namespace graph

extern "C" int graph_main(int argc, char** argv) {
    return graph::hidden(argc);
}
