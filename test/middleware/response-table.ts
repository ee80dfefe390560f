// A response: each row is one that a handler may send, in a form that some framework accepts. The players of the
// frameworks next to it send them, and response-table.test.ts states what a client gets.

import { randomBytes } from 'node:crypto'

/** How a handler gives its body; a framework plays the forms that it has. */
export type Form =
  | { readonly as: 'nothing' }
  | { readonly as: 'text' | 'stream' | 'web stream' | 'web response'; readonly text: string }
  | { readonly as: 'bytes'; readonly bytes: Uint8Array }
  | { readonly as: 'json'; readonly value: unknown }
  /** Node's own: the head goes to `writeHead`, as an object or a list. */
  | { readonly as: 'written head' | 'written list'; readonly text: string }
  /** The handler continues after its answer: it changes the head, answers again, or throws. */
  | { readonly as: 'changed after' | 'thrown after'; readonly text: string }
  /** Middleware in between sets status and headers when the head is written. */
  | { readonly as: 'late head'; readonly text: string }
  /** Values that make the framework, or Node, throw when it takes them. */
  | {
      readonly as:
        | 'refused write'
        | 'refused end'
        | 'refused reason'
        | 'refused status'
        | 'refused header'
        | 'refused payload'
      readonly text: ''
    }

export interface Row {
  readonly name: string
  readonly status: number
  /** A name may come twice. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Form
  /** The answer to the next request with its key: the same, that it was not kept, or a run of the handler. */
  readonly repeated: 'replayed' | 'not kept' | 'run again'
  /** Whether others get it from a cache. */
  readonly shared: boolean
}

/** The middleware around the handler and ours. */
export const AROUND = ['alone', 'dressed', 'compressed'] as const
export type Around = (typeof AROUND)[number]

/**
 * Request headers, and those of `dressed`: CORS, a request id that the client chose, a session, and defaults for all
 * responses.
 */
export const DRESSED = {
  origin: 'https://shop.example',
  requestId: 'r-17',
  cookie: 'session=s1; Path=/',
  policy: ['X-Frame-Options', 'DENY'],
} as const

/** Larger than bodies that are kept. */
export const MOST_BYTES = 5000

// Also when it is compressed.
const MUCH = randomBytes(2 * MOST_BYTES).toString('hex')
const TYPE = ['Content-Type', 'text/plain; charset=utf-8'] as const
const text = 'tea, coffee, ünïcode\n'
const made = { repeated: 'replayed', shared: true } as const
const failed = { repeated: 'run again', shared: false } as const

export const ROWS: readonly Row[] = [
  { name: 'JSON', status: 200, headers: [], body: { as: 'json', value: { tea: [1, null] } }, ...made },
  { name: 'a text', status: 200, headers: [TYPE], body: { as: 'text', text }, ...made },
  { name: 'an empty text', status: 200, headers: [TYPE], body: { as: 'text', text: '' }, ...made },
  {
    name: 'bytes with a type',
    status: 200,
    headers: [['Content-Type', 'image/png']],
    body: { as: 'bytes', bytes: new Uint8Array([0, 255, 13, 10]) },
    ...made,
  },
  {
    name: 'bytes without a type',
    status: 200,
    headers: [],
    body: { as: 'bytes', bytes: new Uint8Array([1, 2, 3]) },
    ...made,
  },
  { name: 'nothing', status: 200, headers: [], body: { as: 'nothing' }, ...made },
  { name: 'no content', status: 204, headers: [['ETag', '"v1"']], body: { as: 'nothing' }, ...made },
  { name: 'a stream', status: 200, headers: [TYPE], body: { as: 'stream', text }, ...made },
  { name: 'a stream without a type', status: 200, headers: [], body: { as: 'stream', text }, ...made },
  { name: 'an empty stream', status: 200, headers: [TYPE], body: { as: 'stream', text: '' }, ...made },
  { name: 'a web stream', status: 200, headers: [TYPE], body: { as: 'web stream', text }, ...made },
  {
    name: 'a web response',
    status: 203,
    headers: [TYPE, ['Content-Language', 'de']],
    body: { as: 'web response', text },
    ...made,
  },
  {
    name: 'an empty web response',
    status: 200,
    headers: [TYPE],
    body: { as: 'web response', text: '' },
    ...made,
  },
  {
    name: 'a web response that failed',
    status: 503,
    headers: [TYPE, ['Retry-After', '7']],
    body: { as: 'web response', text },
    repeated: 'run again',
    shared: false,
  },
  {
    name: 'what was made, and where',
    status: 201,
    headers: [
      ['Location', '/orders/1'],
      ['Link', '</a>; rel=preload'],
      ['Link', '</b>; rel=next'],
      ['Set-Cookie', 'made=1; Path=/'],
      ['Set-Cookie', 'seen=2; Path=/'],
      ['X-Made-By', 'the handler'],
    ],
    body: { as: 'json', value: { id: 1 } },
    repeated: 'replayed',
    shared: false,
  },
  {
    name: 'many headers, some twice',
    status: 200,
    headers: [
      TYPE,
      ['Cache-Control', 'max-age=60'],
      ['Cache-Control', 'public'],
      ['Link', '</a>; rel=preload'],
      ['Link', '</b>; rel=next'],
      ['Content-Disposition', 'attachment; filename="a,b.txt"'],
      ['Last-Modified', 'Wed, 25 Nov 2026 08:00:00 GMT'],
      ['ETag', 'W/"a,b"'],
    ],
    body: { as: 'text', text },
    ...made,
  },
  {
    name: 'a redirect',
    status: 301,
    headers: [['Location', '/elsewhere']],
    body: { as: 'nothing' },
    ...made,
  },
  {
    name: 'not modified',
    status: 304,
    headers: [['ETag', '"v1"']],
    body: { as: 'nothing' },
    repeated: 'replayed',
    shared: false,
  },
  { name: 'not found', status: 404, headers: [TYPE], body: { as: 'text', text: 'no' }, ...made },
  {
    name: 'a failure',
    status: 500,
    headers: [['X-Trace', '4']],
    body: { as: 'json', value: { error: true } },
    repeated: 'run again',
    shared: false,
  },
  {
    name: 'more than is kept',
    status: 200,
    headers: [TYPE],
    body: { as: 'text', text: MUCH },
    repeated: 'not kept',
    shared: false,
  },
  {
    name: 'a stream of more than is kept',
    status: 200,
    headers: [TYPE],
    body: { as: 'stream', text: MUCH },
    repeated: 'not kept',
    shared: false,
  },
  {
    name: 'a web stream of more than is kept',
    status: 200,
    headers: [TYPE],
    body: { as: 'web stream', text: MUCH },
    repeated: 'not kept',
    shared: false,
  },
  {
    name: 'events',
    status: 200,
    headers: [['Content-Type', 'text/event-stream']],
    body: { as: 'stream', text: 'data: 1\n\n' },
    repeated: 'not kept',
    shared: false,
  },
  {
    name: 'events of a web response',
    status: 200,
    headers: [['Content-Type', 'text/event-stream']],
    body: { as: 'web response', text: 'data: 1\n\n' },
    repeated: 'not kept',
    shared: false,
  },
  {
    name: 'a head that is written',
    status: 201,
    headers: [TYPE, ['Location', '/orders/1'], ['ETag', '"1"']],
    body: { as: 'written head', text },
    repeated: 'replayed',
    shared: false,
  },
  {
    name: 'a head that is written as a list',
    status: 200,
    headers: [TYPE, ['Link', '</a>'], ['ETag', '"1"']],
    body: { as: 'written list', text },
    ...made,
  },
  {
    name: 'events under a head that is written',
    status: 200,
    headers: [['Content-Type', 'text/event-stream']],
    body: { as: 'written head', text: 'data: 1\n\n' },
    repeated: 'not kept',
    shared: false,
  },
  {
    name: 'a private one under a head that is written',
    status: 200,
    headers: [TYPE, ['Cache-Control', 'private']],
    body: { as: 'written head', text },
    repeated: 'replayed',
    shared: false,
  },
  {
    name: 'changes after the end',
    status: 200,
    headers: [TYPE],
    body: { as: 'changed after', text },
    ...made,
  },
  {
    name: 'an error after the end',
    status: 200,
    headers: [TYPE],
    body: { as: 'thrown after', text },
    ...made,
  },
  {
    name: 'what was made, said late',
    status: 201,
    headers: [TYPE, ['Location', '/orders/1'], ['ETag', '"1"']],
    body: { as: 'late head', text },
    repeated: 'replayed',
    shared: false,
  },
  {
    name: 'a private one, said late',
    status: 200,
    headers: [TYPE, ['Cache-Control', 'private']],
    body: { as: 'late head', text },
    repeated: 'replayed',
    shared: false,
  },
  { name: 'a failure, said late', status: 503, headers: [TYPE], body: { as: 'late head', text }, ...failed },
  {
    name: 'a chunk that is none',
    status: 500,
    headers: [],
    body: { as: 'refused write', text: '' },
    ...failed,
  },
  { name: 'an end that is none', status: 500, headers: [], body: { as: 'refused end', text: '' }, ...failed },
  {
    name: 'a reason of two lines',
    status: 500,
    headers: [],
    body: { as: 'refused reason', text: '' },
    ...failed,
  },
  {
    name: 'a status that is none',
    status: 500,
    headers: [],
    body: { as: 'refused status', text: '' },
    ...failed,
  },
  {
    name: 'a header of two bytes',
    status: 500,
    headers: [],
    body: { as: 'refused header', text: '' },
    ...failed,
  },
  {
    name: 'a payload that is none',
    status: 500,
    headers: [],
    body: { as: 'refused payload', text: '' },
    ...failed,
  },
]

/** Headers by name, with all their values. */
export function byName(headers: Row['headers']): Map<string, string[]> {
  const grouped = new Map<string, string[]>()
  for (const [name, value] of headers) grouped.set(name, [...(grouped.get(name) ?? []), value])
  return grouped
}

/** A text in two pieces, as streams have it. */
export function piecesOf(whole: string): Buffer[] {
  if (whole === '') return []
  const bytes = Buffer.from(whole)
  const middle = Math.floor(bytes.length / 2)
  return [bytes.subarray(0, middle), bytes.subarray(middle)]
}
