import { expect, test } from 'vitest'
import type { Headers } from './answer.ts'
import { toAnswer, toKept } from './kept-response.ts'

function answering(headers: Headers, etags: string | null, { ageMs = 0, method = 'GET', status = 200 } = {}) {
  const nowMs = 1_800_000_000_000
  const made = { nowMs, ageMs, freshMs: 60_000 }
  const kept = toKept({ status, headers, body: Buffer.from('page') }, made, [])
  return toAnswer(kept, { nowMs, method, etags })
}

const known: [etag: string, asked: string][] = [
  ['"a,b"', '"a,b"'],
  ['"a,b"', '"x", "a,b"'],
  ['W/"a,b"', '"x,y", W/"z", "a,b"'],
  ['"v1"', 'W/"v1"'],
  ['bare', 'other, bare'],
  ['"v1"', ' * '],
]
test.each(known)('a client that has %s gets a 304 for %s', (etag, asked) => {
  expect(answering([['ETag', etag]], asked)).toMatchObject({ status: 304, body: Buffer.alloc(0) })
})

const unknown: [etag: string, asked: string][] = [
  ['"a"', '"a,b"'],
  ['"a,b"', '"a", "b"'],
  ['"a"', ''],
]
test.each(unknown)('a client that does not have %s gets the body for %s', (etag, asked) => {
  expect(answering([['ETag', etag]], asked)).toMatchObject({ status: 200 })
})

test.each([301, 404, 410])('a stored %i never becomes a 304', (status) => {
  expect(answering([['ETag', '"1"']], '"1"', { status })).toMatchObject({ status, body: Buffer.from('page') })
})

test('a 304 carries the other headers of the response and none of its body', () => {
  const headers: Headers = [
    ['ETag', '"1"'],
    ['Content-Type', 'text/html'],
    ['Content-Language', 'en'],
    ['Content-Location', '/page.en'],
    ['Cache-Control', 'max-age=60'],
    ['Expires', 'Wed, 25 Nov 2026 08:00:00 GMT'],
  ]

  const names = answering(headers, '"1"')?.headers.map(([name]) => name)

  expect(names).toEqual(['ETag', 'Content-Location', 'Cache-Control', 'Expires', 'age', 'cache-status'])
})

test('the age of a stored response grows from its age when it was stored', () => {
  const { headers = [] } = answering([], null, { ageMs: 45_000 }) ?? {}

  expect(Number(headers.find(([name]) => name === 'age')?.[1])).toBeGreaterThanOrEqual(45)
  expect(headers.find(([name]) => name === 'cache-status')?.[1]).toMatch(/^perilune; hit; ttl=1[0-5]$/)
})
