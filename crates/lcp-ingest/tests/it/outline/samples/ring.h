/* A licence stands here. */
#ifndef RING_H
#define RING_H

#include <stddef.h>

#define RING_MAX 64
#define RING_AT(ring, at) \
    ((ring)->items[(at) % RING_MAX])

#ifdef __cplusplus
extern "C" {
#endif

/* A ring of numbers.
 * The oldest goes first. */
typedef struct ring {
    /** What is in it. */
    int items[RING_MAX];
    size_t first, count;
    struct {
        int deep;
    } inner;
} ring_t;

enum ring_state { RING_EMPTY, RING_FULL = 2, RING_OTHER };

enum ring_error {
    RING_OK = 0,
    /** It is full. */
    RING_NO_ROOM,
};

union ring_value {
    int number;
    void *pointer;
    char text[16];
    double very_long_name_of_a_number, another_long_name_of_a_number, the_last_long_name_of_a_number;
};

struct opaque;
typedef int (*ring_visit)(void *context, int item);

extern const char *ring_version;

static const int primes[] = {
    2, 3, 5, 7,
};

/** Puts an item in.
 *  May fail. */
int ring_push(ring_t *ring,
              int item);

static inline int ring_count(const ring_t *ring)
{
    return (int)ring->count;
}

#ifdef __cplusplus
}
#endif

#endif
