import type { FastifyRequest } from 'fastify'
import { type Flushed, InvalidArgumentError, type RolledRows, UnknownCounterError } from 'perilune'
import type { OpenCounters } from '../../counters/open-counters.ts'
import type { Routes } from '../api/routes.ts'
import { Problem } from '../../http/answers/problems.ts'
import { cleared, flushed, names, picture, reconciled, value, values } from './answers.ts'
import { Ids, IdsQuery, valueId } from './arguments.ts'
import { toJson } from './increments.ts'
import { type CountersOf, opener } from './open.ts'
import { tenantOf } from '../../http/requests/tenant.ts'
import { exactListOf, writtenQueryOf } from '../../http/requests/query.ts'
import { v1CounterChanges } from './changes.ts'

const url = '/counters/:name'
const MOST_IDS = 1000

export function v1Counters(usual: Routes, all: readonly OpenCounters[]): void {
  const routes = usual.with({ path: { id: valueId } })
  const open = opener(all)
  list(routes, all)
  v1CounterChanges(routes, open)
  readOne(routes, open)
  readMany(routes, open)
  flush(routes, open)
  reconcile(routes, open)
  whole(routes, open)
}

function list(routes: Routes, all: readonly OpenCounters[]): void {
  routes.get('/counters', 'List', { answers: names }, async (request) => {
    const tenant = tenantOf(request)
    const own = all.filter(({ entry }) => entry.project === tenant)
    return { counters: own.map(({ entry }) => entry.called) }
  })
}

function readOne(routes: Routes, open: CountersOf): void {
  routes.get(`${url}/values/:id`, 'Read', { answers: value, or: [404] }, async (request) => {
    const { id } = request.params
    const found = await open(request).get(id)
    if (found === null) throw new UnknownCounterError(id)
    return { id, value: toJson(found) }
  })
}

function readMany(routes: Routes, open: CountersOf): void {
  routes.get(
    `${url}/values`,
    'Read several',
    { query: IdsQuery, answers: values, or: [404] },
    async (request) => {
      const counters = open(request)
      const ids = idsIn(request)
      const found = await counters.getMany(ids)
      return {
        values: found.map((each, at) => ({ id: ids[at], value: each === null ? null : toJson(each) })),
      }
    },
  )
}

/** As they were written: an encoded comma is a part of an id. */
function idsIn(request: FastifyRequest): string[] {
  const ids = exactListOf(writtenQueryOf(request), 'ids')
  if (ids.length > MOST_IDS) throw new InvalidArgumentError('ids', `must be at most ${MOST_IDS}`)
  return ids
}

function flush(routes: Routes, open: CountersOf): void {
  routes.post(
    `${url}/flush`,
    'Flush',
    {
      description: 'Writes the pending increments to the database, or counts the rows there. Safe to repeat.',
      answers: flushed,
      or: [404],
    },
    async (request, reply) => {
      const counters = open(request)
      const flushing = (signal: AbortSignal): Promise<Flushed | RolledRows> => counters.flush({ signal })
      const done = await routes.waits.during(reply, flushing)
      if (done !== null) return done
      const headers = { 'Retry-After': '1' }
      throw new Problem(503, 'Service unavailable', 'Not everything was flushed in time.', headers)
    },
  )
}

function reconcile(routes: Routes, open: CountersOf): void {
  routes.post(
    `${url}/reconcile`,
    'Reconcile',
    {
      description:
        'Updates values after another program has written to the table; for events, recounts all rows.',
      body: Ids,
      answers: reconciled,
      or: [404],
      large: true,
    },
    async (request) => {
      await open(request).reconcile(request.body.ids)
    },
  )
}

function whole(routes: Routes, open: CountersOf): void {
  routes.get(url, 'Inspect', { answers: picture, or: [404] }, async (request) => ({
    name: request.params.name,
    ...(await open(request).inspect()),
  }))

  routes.delete(
    url,
    'Clear',
    {
      description: 'Increments that were not flushed are lost; counts of rows are not.',
      answers: cleared,
      or: [404],
    },
    async (request) => {
      await open(request).clear()
    },
  )
}
