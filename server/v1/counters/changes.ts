// Changes of counters: increments of those that are counted in Redis, notes of those that are counts of rows.

import { Counters, DerivedCounters, ShownCounters } from 'perilune'
import type { ServedCounters } from '../../counters/open-counters.ts'
import type { App } from '../../http/fastify.ts'
import { answers, BODY } from '../api/answers.ts'
import { NamePath, NoQuery } from '../api/strictness.ts'
import type { Parts } from '../api/lending.ts'
import { incremented, noted } from './answers.ts'
import { Increments, Notes } from './arguments.ts'
import { asAsked, counted, incrementsIn, toldOf } from './increments.ts'
import { noteAll } from './notes.ts'
import type { Open } from './open.ts'
import { headerOf } from '../../http/requests/headers.ts'
import { Refusal } from '../../http/answers/problem-documents.ts'

const tags = ['counters']
const url = '/counters/:name'

export function v1CounterChanges(app: App, parts: Parts, open: Open): void {
  increment(app, parts, open)
  note(app, parts, open)
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
    response: answers(incremented, 404, 409, ...BODY),
  }
  app.post(`${url}/increments`, { schema, bodyLimit: limits.maxAppendBytes }, async (request) => {
    const counters = countedHere(open(request))
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

function note(app: App, { limits }: Parts, open: Open): void {
  const schema = {
    tags,
    summary: 'Note',
    description:
      'Shows at once what a transaction has committed to rows that are counted. What is not noted is shown a moment later.',
    params: NamePath,
    querystring: NoQuery,
    body: Notes,
    response: answers(noted, 404, 409, ...BODY),
  }
  app.post(`${url}/notes`, { schema, bodyLimit: limits.maxAppendBytes }, async (request) => {
    const counters = countedInRows(open(request))
    return noteAll(counters, request.body)
  })
}

/** Throws Refusal where rows are what is counted. */
function countedHere(counters: ServedCounters): Counters {
  if (counters instanceof Counters) return counters
  const instead =
    counters instanceof DerivedCounters
      ? 'count rows of the database: insert one, and note it'
      : 'change in transactions of the database: add to its outbox, and note it'
  throw new Refusal('refused', `These counters ${instead}.`)
}

/** Throws Refusal where Redis counts. */
function countedInRows(counters: ServedCounters): ShownCounters {
  if (counters instanceof ShownCounters) return counters
  throw new Refusal('refused', 'These counters are counted here: increment them.')
}
