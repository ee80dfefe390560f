import { expect, test } from 'vitest'
import { changesFor, linesOf } from './standing-headers.ts'

const standing: Record<string, string | string[]> = {
  vary: ['Origin', 'accept'],
  ratelimit: '"minute";r=4',
  etag: '"old"',
  'content-type': 'text/plain',
  'x-request-id': '7',
}
const stands = (name: string): readonly string[] => linesOf(standing[name])

test('headers replace those of the same name and keep all others', () => {
  const changes = changesFor({ headers: [['Content-Type', 'application/json']] }, stands)

  expect([...changes]).toEqual([['Content-Type', ['application/json']]])
})

test('a header given twice becomes two lines of one header', () => {
  const headers = [
    ['Link', '</a>'],
    ['link', '</b>'],
  ] as const

  expect([...changesFor({ headers }, stands)]).toEqual([['Link', ['</a>', '</b>']]])
})

test('list headers are extended, and Vary names each header once', () => {
  const headers = [
    ['RateLimit', '"hour";r=49'],
    ['Vary', 'Accept, Cookie'],
    ['cache-status', 'perilune; hit'],
  ] as const

  expect([...changesFor({ headers }, stands)]).toEqual([
    ['RateLimit', ['"minute";r=4, "hour";r=49']],
    ['Vary', ['Origin, accept, Cookie']],
    ['cache-status', ['perilune; hit']],
  ])
})

test('headers that describe the replaced content are removed, and Vary stays', () => {
  const without = new Set(['etag', 'last-modified', 'vary', 'content-type'])

  const changes = changesFor({ headers: [['content-type', 'text/html']], without }, stands)

  expect([...changes]).toEqual([
    ['content-type', ['text/html']],
    ['etag', []],
  ])
})
