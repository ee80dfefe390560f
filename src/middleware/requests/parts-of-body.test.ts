import { expect, test } from 'vitest'
import { partsOf } from './parts-of-body.ts'

test.each([
  ['multipart/form-data; boundary=b1', '--b1\r\nhello\r\n--b1--\r\n'],
  ['Multipart/Form-Data; charset=utf-8; Boundary="b 2"', '--b 2\r\nhello\r\n--b 2--\r\n'],
  ['multipart/form-data;boundary=b.3; charset=utf-8', '--b.3\r\nhello\r\n--b.3--\r\n'],
])('a body of type %s is split into its parts, without the boundary', (type, body) => {
  const parts = ['', '\r\nhello\r\n', '--\r\n']
  expect(partsOf(body, type)).toEqual(parts)
  expect(partsOf(Buffer.from(body), type)).toEqual(parts)
})

test('a body of another type, or without a type, is one unchanged part', () => {
  const body = Buffer.from('--b\r\n')
  for (const type of [null, 'text/plain; boundary=b', 'multipart/form-data']) {
    expect(partsOf(body, type)).toEqual([body])
  }
})
