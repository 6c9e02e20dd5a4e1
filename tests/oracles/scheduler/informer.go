// Informers without watches: what is written to one is in its store, and its handlers have run, when the call returns.
package main

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// direct is an informer that is never started. The embedded one keeps store and indexes; handlers are kept here and called in place.
type direct struct {
	cache.SharedIndexInformer
	handlers []cache.ResourceEventHandler
}

func newDirect(example runtime.Object) *direct {
	indexers := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	return &direct{SharedIndexInformer: cache.NewSharedIndexInformer(&cache.ListWatch{}, example, 0, indexers)}
}

// AddEventHandler registers a handler that the writes after it call.
func (d *direct) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	d.handlers = append(d.handlers, handler)
	return d.SharedIndexInformer.AddEventHandler(cache.ResourceEventHandlerFuncs{})
}

// AddEventHandlerWithResyncPeriod is AddEventHandler: nothing is ever synchronised again.
func (d *direct) AddEventHandlerWithResyncPeriod(handler cache.ResourceEventHandler, _ time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return d.AddEventHandler(handler)
}

// AddEventHandlerWithOptions is AddEventHandler.
func (d *direct) AddEventHandlerWithOptions(handler cache.ResourceEventHandler, _ cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return d.AddEventHandler(handler)
}

// HasSynced is always true.
func (d *direct) HasSynced() bool { return true }

// put adds an object, or takes the place of the one of its name.
func (d *direct) put(object runtime.Object) error {
	old, exists, err := d.GetIndexer().Get(object)
	if err != nil {
		return err
	}
	if err := d.GetIndexer().Add(object); err != nil {
		return err
	}
	for _, handler := range d.handlers {
		if exists {
			handler.OnUpdate(old, object)
		} else {
			handler.OnAdd(object, false)
		}
	}
	return nil
}

// drop takes an object away.
func (d *direct) drop(object runtime.Object) error {
	if err := d.GetIndexer().Delete(object); err != nil {
		return err
	}
	for _, handler := range d.handlers {
		handler.OnDelete(object)
	}
	return nil
}
