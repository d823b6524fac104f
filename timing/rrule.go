package timing

import "errors"

func (c *compiler) rrule(field, text string) (source, error) {
	return source{}, errors.New("recurrence rules are not supported by this version")
}
