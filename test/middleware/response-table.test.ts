// With the middleware the client gets the same response as without: each row of the response table, in each framework,
// alone and among other middleware; first, repeated, from the cache, and for HEAD. The responses are compared as bytes
// on the socket.

import { randomUUID } from 'node:crypto'
import type { KeptResponse, StoredResponse } from 'perilune/middleware'
import { beforeEach, describe, expect, test } from 'vitest'
import { instance } from '../instance.ts'
import { inExpress } from './played-express.ts'
import { inFastify } from './played-fastify.ts'
import { inFetch, inHono } from './played-hono.ts'
import type { Place, Player } from './player.ts'
import { AROUND, type Around, DRESSED, ROWS, type Row } from './response-table.ts'
import { type Answered, ask } from './wire.ts'
import { someOf } from '../proof.ts'

// The headers listed in docs/middleware.md; other headers of a handler go to the first client only.
const REPEATED =
  /^(?:cache-control|content-disposition|content-encoding|content-language|content-location|content-type|etag|expires|last-modified|link|location|vary)$/i
const AGE = /^age: \d+$/

const ASKED = { Origin: DRESSED.origin, 'X-Request-Id': DRESSED.requestId }
const SENT = { ...ASKED, 'Content-Type': 'application/json' }

interface Service {
  post(place: Place, key: string | null, body?: string): Promise<Answered>
  get(place: Place, method?: 'GET' | 'HEAD'): Promise<Answered>
}

async function started(player: Player): Promise<Service> {
  const { redis } = instance()
  const name = randomUUID()
  const limits = [
    redis.rateLimit(`${name}-1`, { limits: { minute: { limit: 20, window: '1m' } } }),
    redis.rateLimit(`${name}-2`, { limits: { hour: { limit: 2, window: '1h' } } }),
  ] as const
  const port = await player.start({
    once: redis.once<StoredResponse>(name),
    cache: redis.cache<KeptResponse>(name, { ttl: '1h' }),
    limits,
  })
  const encodings = ({ around }: Place) => (around === 'compressed' ? { 'Accept-Encoding': 'gzip' } : {})
  return {
    post: (place, key, body = '{"item":1}') => {
      const keys = key === null ? {} : { 'Idempotency-Key': key }
      const headers = { ...SENT, ...encodings(place), ...keys }
      return ask(port, { method: 'POST', path: pathOf(place), headers, body })
    },
    get: (place, method = 'GET') => {
      return ask(port, { method, path: pathOf(place), headers: { ...ASKED, ...encodings(place) } })
    },
  }
}

function pathOf({ kind, around, row }: Place): string {
  return kind === 'limited' ? `/limited/${around}` : `/${kind}/${around}/${row}`
}

function nameOf(line: string): string {
  return line.split(':', 1)[0] ?? ''
}

/** Without what only the first client gets: those lines of the row whose headers are not repeated. */
function repeated(plain: Answered, { headers }: Row): Answered {
  const lost = headers.filter(([name]) => !REPEATED.test(name))
  const own = new Set(lost.map(([name, value]) => `${name}: ${value}`.toLowerCase()))
  return { ...plain, lines: plain.lines.filter((line) => !own.has(line.toLowerCase())) }
}

/** With these lines more. */
function plus(plain: Answered, ...lines: string[]): Answered {
  return { ...plain, lines: sorted([...plain.lines, ...lines]) }
}

function sorted(lines: readonly string[]): string[] {
  return lines.toSorted((one, other) => (nameOf(one).toLowerCase() < nameOf(other).toLowerCase() ? -1 : 1))
}

// Whether nothing is compressed says the compression, and of a body without a type @hono/node-server says now and then
// what it is.
const OF_NOTHING = /^(?:content-encoding: gzip|vary: accept-encoding)$/i
const UNTOLD = 'content-type: text/plain; charset=utf-8'

/** By name and value, whatever the order and the spelling of the names. */
function comparable({ status, lines, body }: Answered, { headers }: Row): object {
  const isTyped = headers.some(([name]) => name === 'Content-Type')
  const compared = lines
    .map((line) => line.replace(/^[^:]+/, (name) => name.toLowerCase()))
    .filter((line) => body !== '' || !OF_NOTHING.test(line))
    .filter((line) => isTyped || line.toLowerCase() !== UNTOLD)
  return { status, lines: compared.toSorted(), body }
}

/** Headers of the outer middleware. */
function linesAround(around: Around): string[] {
  if (around !== 'dressed') return []
  return [
    `access-control-allow-origin: ${DRESSED.origin}`,
    `x-request-id: ${DRESSED.requestId}`,
    `set-cookie: ${DRESSED.cookie}`,
    `x-frame-options: ${DRESSED.policy[1]}`,
    'vary: Origin',
  ]
}

function expectRefused(refused: Answered, status: number, code: string, around: Around): void {
  expect([refused.status, JSON.parse(refused.body).code]).toEqual([status, code])
  const lines = refused.lines.map((line) => line.replace(/^[^:]+/, (name) => name.toLowerCase()))
  expect(lines).toEqual(expect.arrayContaining(linesAround(around)))
  const names = lines.map(nameOf).filter((name) => name !== 'set-cookie')
  expect(names.toSorted()).toEqual([...new Set(names)].toSorted())
  expect(lines).toContain('content-type: application/problem+json')
}

describe.each([inExpress, inFastify, inHono, inFetch])('$name', (player) => {
  let service: Service
  beforeEach(async () => {
    service = await started(player)
  })

  const rows = ROWS.map((row, at) => ({ row, at, name: row.name })).filter(({ row }) =>
    player.forms.has(row.body.as),
  )

  describe.each(someOf(rows, Math.ceil(rows.length / 4)))('$name', ({ row, at }) => {
    const compared = AROUND.filter((each) => each !== 'compressed' || !player.brokenOff?.has(row.body.as))

    test.each(compared)('is the same with a key, and when it is repeated (%s)', async (around) => {
      const key = randomUUID()
      const place = { kind: 'once', around, row: at } as const
      const plain = await service.post({ ...place, kind: 'plain' }, key)

      const first = await service.post(place, key)
      const again = await service.post(place, key)

      expect(comparable(first, row)).toEqual(comparable(plain, row))
      if (row.repeated === 'run again') return expect(comparable(again, row)).toEqual(comparable(plain, row))
      if (row.repeated === 'not kept') return expectRefused(again, 409, 'response-not-kept', around)
      expect(comparable(again, row)).toEqual(
        comparable(plus(repeated(plain, row), 'idempotency-replayed: true'), row),
      )
    })

    test.each(compared)('is the same from a cache (%s)', async (around) => {
      const place = { kind: 'kept', around, row: at } as const
      const plain = await service.get({ ...place, kind: 'plain' })
      const plainHead = await service.get({ ...place, kind: 'plain' }, 'HEAD')

      const made = await service.get(place)
      const again = await service.get(place)
      const head = await service.get(place, 'HEAD')

      // Fastify sends no headers when one of them cannot be sent.
      const cacheStatus = (how: string): string[] =>
        row.body.as === 'refused header' ? [] : [`cache-status: perilune; fwd=${how}`]
      expect(comparable(made, row)).toEqual(comparable(plus(plain, ...cacheStatus('miss')), row))
      // Fastify fails to answer HEAD by a response of fetch.
      if (plainHead.status < 500) expect(head.status).toBe(plainHead.status)
      if (row.shared) {
        expect(again.lines.filter((line) => AGE.test(line))).toHaveLength(1)
        const status = again.lines.find((line) => line.startsWith('cache-status: perilune; hit')) ?? ''
        const expected = plus(repeated(plain, row), status)
        const { lines, ...rest } = again
        expect(comparable({ ...rest, lines: lines.filter((line) => !AGE.test(line)) }, row)).toEqual(
          comparable(expected, row),
        )
      } else {
        const [bypassed, missed] = ['bypass', 'miss'].map((how) =>
          comparable(plus(plain, ...cacheStatus(how)), row),
        )
        expect([bypassed, missed]).toContainEqual(comparable(again, row))
      }
    })
  })

  test.each(AROUND)(
    'a rejection has the headers of the outer middleware, and no header twice (%s)',
    async (around) => {
      const place = { kind: 'once', around, row: 0 } as const
      const key = randomUUID()
      await service.post(place, key)

      expectRefused(await service.post(place, key, '{"item":2}'), 422, 'conflict', around)
      expectRefused(await service.post(place, 'a b'), 400, 'idempotency-key-malformed', around)
    },
  )

  test.each(AROUND)('two limits both set their headers, also when one denies (%s)', async (around) => {
    const place = { kind: 'limited', around, row: 0 } as const
    const wordsOf = ({ lines }: Answered, name: string): unknown =>
      lines
        .filter((line) => nameOf(line).toLowerCase() === name)
        .flatMap((line) => line.slice(name.length + 1).split(','))
        .map((item) => /"(\w+)"/.exec(item)?.[1] ?? '')
        .toSorted((one, other) => (one < other ? -1 : 1))
    for (const expected of [200, 200, 429]) {
      const answered = await service.get(place)
      expect(answered.status).toBe(expected)
      for (const name of ['ratelimit', 'ratelimit-policy']) {
        expect(wordsOf(answered, name), name).toEqual(['hour', 'minute'])
      }
      if (expected === 429) expectRefused(answered, 429, 'rate-limited', around)
    }
  })
})
