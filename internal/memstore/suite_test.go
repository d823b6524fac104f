package memstore_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/internal/memstore"
	"github.com/duly-dev/duly/store"
	"github.com/duly-dev/duly/store/storetest"
)

func TestConformance(t *testing.T) {
	var mu sync.Mutex
	stores := map[string]*memstore.Store{}
	store.Register("memory", func(_ context.Context, url string, _ store.Options) (store.Store, error) {
		mu.Lock()
		defer mu.Unlock()
		if stores[url] == nil {
			return nil, duly.Errorf(duly.CodeNotFound, "there is no store %s", url)
		}
		return stores[url], nil
	})
	storetest.Run(t, func(*testing.T) string {
		mu.Lock()
		defer mu.Unlock()
		url := fmt.Sprintf("memory:%d", len(stores)+1)
		stores[url] = memstore.New(memstore.Options{})
		return url
	})
}
