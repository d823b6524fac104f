package drill

import "io"

// WriteHTML writes a report as one page.
func (r *Report) WriteHTML(w io.Writer) error { return nil }
