import type { FastifyRequest } from 'fastify'
import { type Counters, InvalidArgumentError, UnknownCounterError } from 'perilune'
import type { OpenCounters } from '../counters/open-counters.ts'
import type { App } from '../fastify.ts'
import { Problem } from '../problems.ts'
import { answers, BODY } from '../v1/answers.ts'
import { NamePath, NoQuery } from '../v1/coordination/arguments.ts'
import type { Parts } from '../v1/coordination/lending.ts'
import {
  cleared,
  flushed,
  incremented,
  names,
  picture,
  reconciled,
  value,
  values,
} from '../v1/counters/answers.ts'
import { Ids, IdsQuery, Increments, ValuePath } from '../v1/counters/arguments.ts'
import { asAsked, counted, incrementsIn, toJson, toldOf } from '../v1/counters/increments.ts'
import { headerOf } from '../v1/headers.ts'
import { nameOf, tenantOf } from '../v1/place.ts'
import { Refusal } from '../v1/problem-documents.ts'
import { listOf, parseQuery } from '../zaqar/query.ts'

const tags = ['counters']
const url = '/counters/:name'
const MOST_IDS = 1000

type Open = (request: FastifyRequest) => Counters

export function v1Counters(app: App, parts: Parts, all: readonly OpenCounters[]): void {
  const open = opener(all)
  list(app, all)
  increment(app, parts, open)
  readOne(app, open)
  readMany(app, open)
  flush(app, parts, open)
  reconcile(app, parts, open)
  whole(app, open)
}

/** Counters of another tenant are as little there as those that nobody has. */
function opener(all: readonly OpenCounters[]): Open {
  const served = all.filter(({ entry }) => entry.project !== null)
  const byName = new Map(served.map(({ entry, counters }) => [entry.name, counters]))
  return (request) => {
    const { name } = request.params as { name: string }
    const found = byName.get(nameOf(request, name))
    if (found === undefined) throw new Refusal('not-found', `There are no counters ${name}.`)
    return found
  }
}

function list(app: App, all: readonly OpenCounters[]): void {
  const schema = { tags, summary: 'List', querystring: NoQuery, response: answers(names) }
  app.get('/counters', { schema }, async (request) => {
    const tenant = tenantOf(request)
    const own = all.filter(({ entry }) => entry.project === tenant)
    return { counters: own.map(({ entry }) => entry.called) }
  })
}

function increment(app: App, { limits }: Parts, open: Open): void {
  const schema = {
    tags,
    summary: 'Increment',
    description: 'Several are not one step: each counts by itself, and is told by itself.',
    params: NamePath,
    querystring: NoQuery,
    described: { 'Idempotency-Key': 'For a request with one increment: its idempotencyKey.' },
    body: Increments,
    response: answers(incremented, 404, ...BODY),
  }
  app.post(`${url}/increments`, { schema, bodyLimit: limits.maxAppendBytes }, async (request) => {
    const counters = open(request)
    const isSingle = !('increments' in request.body)
    const items = incrementsIn(request.body, headerOf(request, 'Idempotency-Key'))
    const done = await counters.incrementMany(items).catch((error: unknown) => {
      throw asAsked(error, { isSingle })
    })
    const [first] = done
    if (!isSingle || first === undefined) return { increments: toldOf(items, done) }
    if (first instanceof Error) throw first
    return counted(first)
  })
}

function readOne(app: App, open: Open): void {
  const schema = {
    tags,
    summary: 'Read',
    params: ValuePath,
    querystring: NoQuery,
    response: answers(value, 404),
  }
  app.get(`${url}/values/:id`, { schema }, async (request) => {
    const { id } = request.params
    const found = await open(request).get(id)
    if (found === null) throw new UnknownCounterError(id)
    return { id, value: toJson(found) }
  })
}

function readMany(app: App, open: Open): void {
  const schema = {
    tags,
    summary: 'Read several',
    params: NamePath,
    querystring: IdsQuery,
    response: answers(values, 404),
  }
  app.get(`${url}/values`, { schema }, async (request) => {
    const counters = open(request)
    const ids = idsIn(request)
    const found = await counters.getMany(ids)
    return { values: found.map((each, at) => ({ id: ids[at], value: each === null ? null : toJson(each) })) }
  })
}

/** As they were written: an encoded comma is a part of an id. */
function idsIn({ raw }: FastifyRequest): string[] {
  const ids = listOf(parseQuery(raw.url?.split('?', 2)[1] ?? ''), 'ids') ?? []
  if (ids.length > MOST_IDS) throw new InvalidArgumentError('ids', `must be at most ${MOST_IDS}`)
  return ids
}

function flush(app: App, { waits }: Parts, open: Open): void {
  const schema = {
    tags,
    summary: 'Flush',
    description: 'Brings what is pending now into the database. The same again is safe.',
    params: NamePath,
    querystring: NoQuery,
    response: answers(flushed, 404),
  }
  app.post(`${url}/flush`, { schema }, async (request, reply) => {
    const counters = open(request)
    const done = await waits.during(reply, (signal) => counters.flush({ signal }))
    if (done !== null) return done
    const headers = { 'Retry-After': '1' }
    throw new Problem(503, 'Service unavailable', 'Not all of it was flushed in time.', headers)
  })
}

function reconcile(app: App, { limits }: Parts, open: Open): void {
  const schema = {
    tags,
    summary: 'Reconcile',
    description: 'Puts values right after somebody else has written the database.',
    params: NamePath,
    querystring: NoQuery,
    body: Ids,
    response: answers(reconciled, 404, ...BODY),
  }
  app.post(`${url}/reconcile`, { schema, bodyLimit: limits.maxAppendBytes }, async (request, reply) => {
    await open(request).reconcile(request.body.ids)
    return reply.code(204).send()
  })
}

function whole(app: App, open: Open): void {
  const common = { tags, params: NamePath, querystring: NoQuery }

  const seen = { ...common, summary: 'Inspect', response: answers(picture, 404) }
  app.get(url, { schema: seen }, async (request) => ({
    name: request.params.name,
    ...(await open(request).inspect()),
  }))

  const gone = {
    ...common,
    summary: 'Clear',
    description: 'What was not flushed is lost.',
    response: answers(cleared, 404),
  }
  app.delete(url, { schema: gone }, async (request, reply) => {
    await open(request).clear()
    return reply.code(204).send()
  })
}
