import type { FastifyRequest } from 'fastify'
import { type Flushed, InvalidArgumentError, type RolledRows, UnknownCounterError } from 'perilune'
import type { OpenCounters } from '../../counters/open-counters.ts'
import type { App } from '../../http/fastify.ts'
import { Problem } from '../../http/answers/problems.ts'
import { answers, BODY } from '../api/answers.ts'
import { NamePath, NoQuery } from '../api/strictness.ts'
import type { Parts } from '../api/lending.ts'
import { cleared, flushed, names, picture, reconciled, value, values } from './answers.ts'
import { Ids, IdsQuery, ValuePath } from './arguments.ts'
import { toJson } from './increments.ts'
import { type Open, opener } from './open.ts'
import { tenantOf } from '../../http/requests/tenant.ts'
import { listOf, writtenQueryOf } from '../../http/requests/query.ts'
import { v1CounterChanges } from './changes.ts'

const tags = ['counters']
const url = '/counters/:name'
const MOST_IDS = 1000

export function v1Counters(app: App, parts: Parts, all: readonly OpenCounters[]): void {
  const open = opener(all)
  list(app, all)
  v1CounterChanges(app, parts, open)
  readOne(app, open)
  readMany(app, open)
  flush(app, parts, open)
  reconcile(app, parts, open)
  whole(app, open)
}

function list(app: App, all: readonly OpenCounters[]): void {
  const schema = { tags, summary: 'List', querystring: NoQuery, response: answers(names) }
  app.get('/counters', { schema }, async (request) => {
    const tenant = tenantOf(request)
    const own = all.filter(({ entry }) => entry.project === tenant)
    return { counters: own.map(({ entry }) => entry.called) }
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
function idsIn(request: FastifyRequest): string[] {
  const ids = listOf(writtenQueryOf(request), 'ids') ?? []
  if (ids.length > MOST_IDS) throw new InvalidArgumentError('ids', `must be at most ${MOST_IDS}`)
  return ids
}

function flush(app: App, { waits }: Parts, open: Open): void {
  const schema = {
    tags,
    summary: 'Flush',
    description:
      'Brings what is pending now into the database, or counts the rows there. The same again is safe.',
    params: NamePath,
    querystring: NoQuery,
    response: answers(flushed, 404),
  }
  app.post(`${url}/flush`, { schema }, async (request, reply) => {
    const counters = open(request)
    const flushing = (signal: AbortSignal): Promise<Flushed | RolledRows> => counters.flush({ signal })
    const done = await waits.during(reply, flushing)
    if (done !== null) return done
    const headers = { 'Retry-After': '1' }
    throw new Problem(503, 'Service unavailable', 'Not all of it was flushed in time.', headers)
  })
}

function reconcile(app: App, { limits }: Parts, open: Open): void {
  const schema = {
    tags,
    summary: 'Reconcile',
    description:
      'Puts values right after somebody else has written the database; of events, counts all rows anew.',
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
    description: 'What was not flushed is lost; counts of rows are not.',
    response: answers(cleared, 404),
  }
  app.delete(url, { schema: gone }, async (request, reply) => {
    await open(request).clear()
    return reply.code(204).send()
  })
}
