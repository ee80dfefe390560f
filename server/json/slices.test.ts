import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findElement, findElementsOf, findMember, findStart, nestingOf, type Slice } from './slices.ts'

const cut = (text: string, slice: Slice | null): string | null => slice && text.slice(slice.from, slice.to)

const member = (text: string, name: string): string | null =>
  cut(text, findMember(text, findStart(text), name))

test('a value is found unchanged, whatever it is', () => {
  const values = [
    '1e400',
    '9007199254740993',
    '-0.10',
    '"a\\"]}\\\\"',
    '[ ]',
    '{ "a" : [1,  2] }',
    'null',
    '""',
  ]
  for (const value of values) {
    expect(member(` {"x":[{"body":0}], "body"\t:\n ${value} ,"y":1}`, 'body')).toBe(value)
    expect(member(`{"body":${value}}`, 'body')).toBe(value)
  }
})

test('the last of several members of one name is used, as in JSON.parse', () => {
  expect(member('{"body":1,"other":{"body":2},"body":3}', 'body')).toBe('3')
})

test('a name is recognised through its escapes, and no other is mistaken for it', () => {
  expect(member('{"\\u0062ody":1}', 'body')).toBe('1')
  expect(member('{"bodyguard":1,"embody":2,"bod":3}', 'body')).toBeNull()
  expect(member('{"bo\\\\dy":1}', 'body')).toBeNull()
})

test('the elements of the last list of a name are found, and none if it is not a list', () => {
  const elements = (text: string): (string | null)[] =>
    findElementsOf(text, 0, 'x').map((slice) => cut(text, slice))
  expect(elements('{"x":[0],"y":[1],"\\u0078": [ "a]" ,{"x":[2]},[ 3 ]] ,"z":{}}')).toEqual([
    '"a]"',
    '{"x":[2]}',
    '[ 3 ]',
  ])
  expect(elements('{"x":[1],"x":{"x":[2]}}')).toEqual([])
  expect(elements('{"y":[1]}')).toEqual([])
})

test('an empty object has no members and an empty list no elements', () => {
  expect(member('{ }', 'body')).toBeNull()
  expect(findElementsOf('{"x": [ ] }', 0, 'x')).toEqual([])
})

test('for any JSON, parsing the slices gives the same as parsing the whole', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue()), (object, array) => {
      const text = JSON.stringify(object, null, 1)
      for (const [name, value] of Object.entries(object)) {
        expect(JSON.parse(member(text, name) ?? '')).toEqual(JSON.parse(JSON.stringify(value)))
      }
      const nested = JSON.stringify({ ...object, list: array })
      expect(findElementsOf(nested, 0, 'list').map((slice) => JSON.parse(cut(nested, slice) ?? ''))).toEqual(
        JSON.parse(JSON.stringify(array)),
      )
      const list = JSON.stringify(array)
      const pieces = array.map((_, nth) => JSON.parse(cut(list, findElement(list, 0, nth)) ?? ''))
      expect(pieces).toEqual(JSON.parse(list))
    }),
  )
})

test('nesting is measured without being misled by strings, however deep it is', () => {
  expect(nestingOf('1')).toBe(0)
  expect(nestingOf('{"a[[[":"]{{"}')).toBe(1)
  expect(nestingOf('[[],[{"a":[]}]]')).toBe(4)
  expect(nestingOf('['.repeat(100_000) + ']'.repeat(100_000))).toBe(100_000)
})
