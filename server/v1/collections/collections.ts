import { Type } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import {
  type Collection,
  type CollectionKind,
  type CollectionList,
  type CollectionSet,
  jsonText,
  type Perilune,
} from 'perilune'
import { namedIn, type Routes } from '../api/routes.ts'
import { duration, limit, strict } from '../api/arguments.ts'
import { added, cleared, page, picture, removed, replaced } from './answers.ts'
import { encodeItems, itemsIn, keysIn, MOST_ITEMS } from './items.ts'
import { RefusedRequest } from '../../http/answers/problem-documents.ts'

const url = '/collections/:kind/:name'
const kind = Type.Unsafe<CollectionKind>({
  type: 'string',
  enum: ['list', 'set', 'hash', 'sortedSet'],
  description: 'The kind of the collection.',
})
const items = Type.Array(Type.Unknown(), {
  description: `Values of any JSON, at most ${MOST_ITEMS}. Of a hash: pairs of a field and a value. Of a sorted set: pairs of a value and a score.`,
})
const most = Type.Optional(
  Type.Integer({
    minimum: 1,
    description: 'Maximum number of items of a list or a sorted set; default: no limit.',
  }),
)
const Replacement = Type.Object(
  {
    items,
    version: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'Version of the items: an older one is rejected. Default: the last request wins.',
      }),
    ),
    ttl: duration('How long the items are valid; default 24h.'),
    limit: most,
  },
  strict,
)
const Addition = Type.Object({ items, limit: most }, strict)
const Removal = Type.Object({ items }, strict)
const PageQuery = Type.Object(
  {
    after: Type.Optional(
      Type.String({ description: 'The `next` of the page before; default: from the beginning.' }),
    ),
    limit: limit(100),
  },
  strict,
)

/** The methods of all kinds, and those of some. */
type AnyCollection = Collection<unknown> &
  Partial<Pick<CollectionList<unknown>, 'append'> & Pick<CollectionSet<unknown>, 'add' | 'remove'>>

type Open = (request: FastifyRequest, bounds?: { limit?: number }) => AnyCollection

export function v1Collections(usual: Routes): void {
  const routes = usual.with({ path: { kind } })
  const open = opener(routes.perilune)
  replace(routes, open)
  read(routes, open)
  add(routes, open)
  remove(routes, open)
  whole(routes, open)
}

const kindOf = (request: FastifyRequest): CollectionKind => (request.params as { kind: CollectionKind }).kind

function opener(perilune: Perilune): Open {
  return (request, bounds = {}) => {
    const called = namedIn(request)
    const options = { kind: kindOf(request), codec: jsonText, ...bounds }
    return perilune.collection<string>(called, options)
  }
}

const boundsOf = (bound: number | undefined): { limit?: number } =>
  bound === undefined ? {} : { limit: bound }

function absent(request: FastifyRequest): RefusedRequest {
  return new RefusedRequest(
    'not-found',
    `There is no collection ${(request.params as { name: string }).name}.`,
  )
}

function replace(routes: Routes, open: Open): void {
  routes.put(
    url,
    'Replace all items',
    { body: Replacement, answers: replaced, large: true },
    async (request) => {
      const { items: _items, limit: bound, ...options } = request.body
      const given = itemsIn(kindOf(request), request.jsonText, request.body.items)
      // A hundred thousand items take as long to encode as to parse.
      await request.server.bodyTurns.step(request)
      return open(request, boundsOf(bound)).replace(given, options)
    },
  )
}

function read(routes: Routes, open: Open): void {
  routes.get(
    `${url}/items`,
    'Read',
    { query: PageQuery, answers: page, or: [404] },
    async (request, reply) => {
      const found = await open(request).read(request.query)
      if (found.status === 'absent') throw absent(request)
      if (found.status === 'replaced') return found
      // Any text can be decoded, so nothing is undecodable.
      const { items: shown, undecodable: _undecodable, ...rest } = found
      const start = JSON.stringify(rest).slice(0, -1)
      return reply.type('application/json').send(`${start},"items":${encodeItems(kindOf(request), shown)}}`)
    },
  )
}

function add(routes: Routes, open: Open): void {
  routes.post(
    `${url}/items`,
    'Append or add',
    { body: Addition, answers: added, or: [404], large: true },
    async (request) => {
      const given = itemsIn(kindOf(request), request.jsonText, request.body.items)
      const collection = open(request, boundsOf(request.body.limit))
      const done = await (collection.append?.(given) ?? collection.add?.(given))
      if (done?.status !== 'added') throw absent(request)
      const { status: _status, ...counts } = done
      return counts
    },
  )
}

function remove(routes: Routes, open: Open): void {
  routes.post(
    `${url}/removals`,
    'Remove',
    {
      description: 'Of a set or a sorted set by value, of a hash by field.',
      body: Removal,
      answers: removed,
      or: [404],
      large: true,
    },
    async (request) => {
      const collection = open(request)
      if (collection.remove === undefined)
        throw new RefusedRequest('not-found', 'Items of a list cannot be removed.')
      const done = await collection.remove(keysIn(kindOf(request), request.jsonText, request.body.items))
      if (done.status === 'absent') throw absent(request)
      return { size: done.size, removed: done.removed }
    },
  )
}

function whole(routes: Routes, open: Open): void {
  routes.get(url, 'Inspect', { answers: picture }, async (request) => {
    const inspection = await open(request).inspect()
    if (!inspection.exists) return { name: request.params.name, exists: false }
    const { codec: _codec, ...shown } = inspection
    return { name: request.params.name, ...shown }
  })

  routes.delete(url, 'Clear', { answers: cleared }, async (request) => {
    await open(request).clear()
  })
}
