package api

import "iter"

// List is a page of a list.
type List[T any] struct {
	Items []T `json:"items"`
	// NextCursor asks for the next page. Empty: this is the last one.
	NextCursor string `json:"next_cursor,omitempty"`
}

// Page asks for a part of a list. The zero value asks for the beginning.
type Page struct {
	// Limit is how many items a page holds, at most 1000. Default 100.
	Limit int
	// Cursor is the NextCursor of the page before.
	Cursor string
}

// All walks a list page by page. It ends after the first error.
//
//	for s, err := range api.All(func(cursor string) (api.List[store.ScheduleStatus], error) {
//		return client.Schedules(ctx, api.ScheduleQuery{Page: api.Page{Cursor: cursor}})
//	}) { … }
func All[T any](page func(cursor string) (List[T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for cursor := ""; ; {
			list, err := page(cursor)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range list.Items {
				if !yield(item, nil) {
					return
				}
			}
			if cursor = list.NextCursor; cursor == "" {
				return
			}
		}
	}
}
