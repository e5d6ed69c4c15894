package load

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"
)

// decode reads one JSON object into a struct strictly: encoding/json alone
// accepts keys that are missing, written in another case, or null.
func decode(data []byte, dst any) error {
	if !utf8.Valid(data) {
		return errors.New("a byte that is not UTF-8")
	}
	if err := keys(data, reflect.TypeOf(dst).Elem(), ""); err != nil {
		return err
	}
	return json.Unmarshal(data, dst)
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// keys compares the keys of an object, and of objects in it, with those of a
// struct.
func keys(data []byte, t reflect.Type, at string) error {
	here := cmp.Or(at, "/")
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
	case t.Kind() == reflect.Slice, t.Kind() == reflect.Array:
		var parts []json.RawMessage
		if err := json.Unmarshal(data, &parts); err != nil {
			return fmt.Errorf("%s is no list", here)
		}
		if t.Kind() == reflect.Array && len(parts) != t.Len() {
			return fmt.Errorf("%s is a list of %d, not of %d", here, len(parts), t.Len())
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
	parts, err := object(data, at)
	if err != nil {
		return err
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

// object is the parts of an object, by their keys.
func object(data []byte, at string) (map[string]json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	if first, err := dec.Token(); err != nil || first != json.Delim('{') {
		return nil, fmt.Errorf("%s is no object", cmp.Or(at, "/"))
	}
	parts := map[string]json.RawMessage{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name := key.(string) // More is true in an object before a key only
		if _, twice := parts[name]; twice {
			return nil, fmt.Errorf("%s/%s is there twice", at, name)
		}
		var part json.RawMessage
		if err := dec.Decode(&part); err != nil {
			return nil, err
		}
		parts[name] = part
	}
	return parts, nil
}
