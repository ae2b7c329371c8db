// Package cache keeps answers.
//
// For a while.
package cache

import (
	"sync"
	"time"
)

// Limits of a cache.
const (
	// MaxEntries is how many it keeps.
	MaxEntries = 1000
	minEntries = 1 // few
)

var ErrFull = errors.New("the cache is full")

var (
	mu    sync.Mutex
	names = map[string]int{
		"a": 1,
		"b": 2,
	}
)

// Cache keeps what was asked.
// It is safe for use by many.
type Cache[K comparable, V any] struct {
	// Entries by key.
	Entries map[K]V
	mu      sync.Mutex `json:"-"`
}

type (
	// Key names an entry.
	Key string

	Store interface {
		// Get finds an entry.
		Get(key Key) (string, error)
		sync.Locker
	}
)

// New makes a cache.
func New[K comparable, V any](size int) *Cache[K, V] {
	return &Cache[K, V]{Entries: make(map[K]V, size)}
}

// Get finds an entry.
func (c *Cache[K, V]) Get(
	key K,
) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	value, ok := c.Entries[key]
	return value, ok
}

// hidden is not for others.
func hidden() {}
