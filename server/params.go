package server

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// optionalBool is a query parameter that is true, false or missing.
type optionalBool struct {
	Value bool
	isSet bool
}

// Schema implements huma.SchemaProvider.
func (optionalBool) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeBoolean}
}

// Receiver implements huma.ParamWrapper.
func (b *optionalBool) Receiver() reflect.Value { return reflect.ValueOf(&b.Value).Elem() }

// OnParamSet implements huma.ParamReactor.
func (b *optionalBool) OnParamSet(isSet bool, _ any) { b.isSet = isSet }

func (b *optionalBool) pointer() *bool {
	if !b.isSet {
		return nil
	}
	return &b.Value
}
