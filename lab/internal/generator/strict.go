package generator

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/strict"
)

// decode reads one JSON object into a struct strictly: encoding/json alone
// accepts keys that are missing, written in another case, or null.
func decode(data []byte, dst any) error {
	if err := strict.CheckJSON(data); err != nil {
		return err
	}
	if err := keys(data, reflect.TypeOf(dst).Elem(), ""); err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return dec.Decode(dst)
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// keys compares the keys of an object, and of objects in it, with those of a
// struct.
func keys(data []byte, t reflect.Type, at string) error {
	here := at
	if here == "" {
		here = "/"
	}
	if string(bytes.TrimSpace(data)) == "null" {
		return fmt.Errorf("%s is null; leave out what is not known", here)
	}
	switch {
	case t.Kind() == reflect.Pointer:
		return keys(data, t.Elem(), at)
	case reflect.PointerTo(t).Implements(unmarshaler):
		return nil // it checks itself
	case t == reflect.TypeFor[[]byte]():
		return nil // base64, which the decoder checks
	case t.Kind() == reflect.Slice:
		var parts []json.RawMessage
		if err := json.Unmarshal(data, &parts); err != nil {
			return fmt.Errorf("%s is no list", here)
		}
		for i, part := range parts {
			if err := keys(part, t.Elem(), fmt.Sprintf("%s/%d", at, i)); err != nil {
				return err
			}
		}
		return nil
	case t.Kind() != reflect.Struct || !strings.HasPrefix(t.PkgPath(), reflect.TypeFor[Plan]().PkgPath()):
		return nil // a plain value, which the decoder checks
	}
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(data, &parts); err != nil {
		return fmt.Errorf("%s is no object", here)
	}
	for i := range t.NumField() {
		name, optional, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		part, ok := parts[name]
		if !ok && optional == "" {
			return fmt.Errorf("%s/%s is missing", at, name)
		}
		if ok {
			if err := keys(part, t.Field(i).Type, at+"/"+name); err != nil {
				return err
			}
		}
		delete(parts, name)
	}
	for name := range parts {
		return fmt.Errorf("%s/%s is unknown", at, name)
	}
	return nil
}
