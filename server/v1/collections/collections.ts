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
import type { App } from '../../http/fastify.ts'
import { answers, BODY } from '../api/answers.ts'
import { duration, limit, name } from '../api/arguments.ts'
import { added, cleared, page, picture, removed, replaced } from './answers.ts'
import { encodeItems, itemsIn, keysIn, MOST_ITEMS } from './items.ts'
import { NoQuery, strict } from '../api/strictness.ts'
import type { Parts } from '../api/lending.ts'
import { nameOf } from '../../http/requests/tenant.ts'
import { Refusal } from '../../http/answers/problem-documents.ts'

const tags = ['collections']
const url = '/collections/:kind/:name'
const kind = Type.Unsafe<CollectionKind>({
  type: 'string',
  enum: ['list', 'set', 'hash', 'sortedSet'],
  description: 'What the collection is.',
})
const Path = Type.Object({ kind, name })
const items = Type.Array(Type.Unknown(), {
  description: `Values of any JSON, at most ${MOST_ITEMS}; of a hash pairs of a field and a value, of a sorted set pairs of a value and a score.`,
})
const most = Type.Optional(
  Type.Integer({
    minimum: 1,
    description: 'How many items a list or a sorted set may have; default: any number.',
  }),
)
const Replacement = Type.Object(
  {
    items,
    version: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'Of the items: an older one is refused. Default: the last one wins.',
      }),
    ),
    expireAfter: duration('How long the items count; default 24h.'),
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

/** What all kinds have, and what some have. */
type AnyCollection = Collection<unknown> &
  Partial<Pick<CollectionList<unknown>, 'append'> & Pick<CollectionSet<unknown>, 'add' | 'remove'>>

type Open = (request: FastifyRequest, bounds?: { limit?: number }) => AnyCollection

export function v1Collections(app: App, { perilune, limits }: Parts): void {
  const open = opener(perilune)
  replace(app, limits.maxAppendBytes, open)
  read(app, open)
  add(app, limits.maxAppendBytes, open)
  remove(app, limits.maxAppendBytes, open)
  whole(app, open)
}

const kindOf = (request: FastifyRequest): CollectionKind => (request.params as { kind: CollectionKind }).kind

function opener(perilune: Perilune): Open {
  return (request, bounds = {}) => {
    const called = nameOf(request, (request.params as { name: string }).name)
    const options = { kind: kindOf(request), codec: jsonText, ...bounds }
    return perilune.collection<string>(called, options)
  }
}

const boundsOf = (bound: number | undefined): { limit?: number } =>
  bound === undefined ? {} : { limit: bound }

function absent(request: FastifyRequest): Refusal {
  return new Refusal('not-found', `There is no collection ${(request.params as { name: string }).name}.`)
}

function replace(app: App, bodyLimit: number, open: Open): void {
  const schema = {
    tags,
    summary: 'Replace all items',
    params: Path,
    querystring: NoQuery,
    body: Replacement,
    response: answers(replaced, ...BODY),
  }
  app.put(url, { schema, bodyLimit }, async (request) => {
    const { items: _items, limit: bound, ...options } = request.body
    const given = itemsIn(kindOf(request), request.jsonText, request.body.items)
    // A hundred thousand take as long to encode as to take apart.
    await app.bodyTurns.step(request)
    return open(request, boundsOf(bound)).replace(given, options)
  })
}

function read(app: App, open: Open): void {
  const schema = { tags, summary: 'Read', params: Path, querystring: PageQuery, response: answers(page, 404) }
  app.get(`${url}/items`, { schema }, async (request, reply) => {
    const found = await open(request).read(request.query)
    if (found.status === 'absent') throw absent(request)
    if (found.status === 'replaced') return found
    // Text is text: none of it cannot be read.
    const { items: shown, undecodable: _undecodable, ...rest } = found
    const start = JSON.stringify(rest).slice(0, -1)
    return reply.type('application/json').send(`${start},"items":${encodeItems(kindOf(request), shown)}}`)
  })
}

function add(app: App, bodyLimit: number, open: Open): void {
  const schema = {
    tags,
    summary: 'Append or add',
    params: Path,
    querystring: NoQuery,
    body: Addition,
    response: answers(added, 404, ...BODY),
  }
  app.post(`${url}/items`, { schema, bodyLimit }, async (request) => {
    const given = itemsIn(kindOf(request), request.jsonText, request.body.items)
    const collection = open(request, boundsOf(request.body.limit))
    const done = await (collection.append?.(given) ?? collection.add?.(given))
    if (done?.status !== 'added') throw absent(request)
    const { status: _status, ...counts } = done
    return counts
  })
}

function remove(app: App, bodyLimit: number, open: Open): void {
  const schema = {
    tags,
    summary: 'Remove',
    description: 'Of a set or a sorted set by value, of a hash by field.',
    params: Path,
    querystring: NoQuery,
    body: Removal,
    response: answers(removed, 404, ...BODY),
  }
  app.post(`${url}/removals`, { schema, bodyLimit }, async (request) => {
    const collection = open(request)
    if (collection.remove === undefined) throw new Refusal('not-found', 'Nothing is removed from a list.')
    const done = await collection.remove(keysIn(kindOf(request), request.jsonText, request.body.items))
    if (done.status === 'absent') throw absent(request)
    return { size: done.size, removed: done.removed }
  })
}

function whole(app: App, open: Open): void {
  const seen = { tags, summary: 'Inspect', params: Path, querystring: NoQuery, response: answers(picture) }
  app.get(url, { schema: seen }, async (request) => {
    const inspection = await open(request).inspect()
    if (!inspection.exists) return { name: request.params.name, exists: false }
    const { codec: _codec, ...shown } = inspection
    return { name: request.params.name, ...shown }
  })

  const gone = { tags, summary: 'Clear', params: Path, querystring: NoQuery, response: answers(cleared) }
  app.delete(url, { schema: gone }, async (request, reply) => {
    await open(request).clear()
    return reply.code(204).send()
  })
}
