/*
 * A licence stands here.
 */
package org.example.bank;

import java.util.List;
import java.util.Map;

/**
 * Money of somebody.
 *
 * @since 1
 */
@Entity(name = "accounts")
public final class Account<T extends Money> extends Base implements Comparable<Account<T>> {
    public static final int MAX = 10;
    private final Map<String, List<T>> parts = Map.of(
        "a", List.of(),
        "b", List.of());

    static {
        System.out.println("loaded");
    }

    /** Opens one. */
    public Account(String owner) {
        this.owner = owner;
    }

    /**
     * Puts money in.
     */
    @Override
    public synchronized <R> R deposit(T amount, int times) throws IOException {
        for (int i = 0; i < times; i++) {
            add(amount);
        }
        return null;
    }

    private void hidden() {
    }

    /** States. */
    public enum State {
        /** It can be used. */
        OPEN,
        CLOSED("closed") {
            @Override
            boolean isLast() {
                return true;
            }
        };

        private final String name;

        boolean isLast() {
            return false;
        }
    }

    interface Listener {
        /** Something changed. */
        void changed(Account<?> account);

        default int priority() {
            return 1;
        }
    }

    public record Entry(String what, long cents) {
        public Entry {
            check(cents);
        }
    }

    @interface Checked {
        int value() default 1;
    }
}
