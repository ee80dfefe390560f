// Changes of counters: increments of those that Redis counts, notes of those that count rows.

import { Counters, RowCounters, InvalidArgumentError, DatabaseCounters } from 'perilune'
import type { ServedCounters } from '../../counters/open-counters.ts'
import type { Routes } from '../api/routes.ts'
import { incremented, noted } from './answers.ts'
import { Increments, Notes } from './arguments.ts'
import { asAsked, counted, incrementsIn, toJson, outcomesToJson } from './increments.ts'
import type { CountersOf } from './open.ts'
import { headerOf } from '../../http/requests/headers.ts'
import { RefusedRequest } from '../../http/answers/problem-documents.ts'

const url = '/counters/:name'

export function v1CounterChanges(routes: Routes, open: CountersOf): void {
  increment(routes, open)
  note(routes, open)
}

function increment(routes: Routes, open: CountersOf): void {
  routes.post(
    `${url}/increments`,
    'Increment',
    {
      description: 'Several are not atomic: each is counted independently, and has its own result.',
      described: { 'Idempotency-Key': 'For a request with one increment: its idempotencyKey.' },
      body: Increments,
      answers: incremented,
      or: [404, 409],
      large: true,
    },
    async (request) => {
      const counters = countedHere(open(request))
      const isSingle = !('increments' in request.body)
      const items = incrementsIn(request.body, headerOf(request, 'Idempotency-Key'))
      const done = await counters.incrementMany(items).catch((error: unknown) => {
        throw asAsked(error, { isSingle })
      })
      const [first] = done
      if (!isSingle || first === undefined) return { increments: outcomesToJson(items, done) }
      if (first instanceof Error) throw first
      return counted(first)
    },
  )
}

function note(routes: Routes, open: CountersOf): void {
  routes.post(
    `${url}/notes`,
    'Note',
    {
      description: 'Shows committed rows at once. Rows without a note are shown a moment later.',
      body: Notes,
      answers: noted,
      or: [404, 409],
      large: true,
    },
    async (request) => {
      const counters = countedInRows(open(request))
      return noteAll(counters, request.body)
    },
  )
}

/** Throws Refusal if the counters count rows. */
function countedHere(counters: ServedCounters): Counters {
  if (counters instanceof Counters) return counters
  const instead =
    counters instanceof RowCounters
      ? 'count rows of the database: insert one, and send a note'
      : 'change in transactions of the database: add to its outbox, and send a note'
  throw new RefusedRequest('refused', `These counters ${instead}.`)
}

/** Throws Refusal if Redis counts. */
function countedInRows(counters: ServedCounters): DatabaseCounters {
  if (counters instanceof DatabaseCounters) return counters
  throw new RefusedRequest('refused', 'These counters are counted in Redis: increment them.')
}

/** In the form of the schema. */
interface AskedNote {
  readonly id: string | number
  readonly by?: number
}

/** The values shown after them; null for those without one. Throws InvalidArgumentError. */
async function noteAll(
  counters: DatabaseCounters,
  asked: AskedNote | { readonly notes: readonly AskedNote[] },
): Promise<object> {
  if (!('notes' in asked)) return noteOne(counters, asked, '')
  const { notes } = asked
  return { notes: await Promise.all(notes.map((each, at) => noteOne(counters, each, `notes[${at}].`))) }
}

async function noteOne(counters: DatabaseCounters, { id, by }: AskedNote, place: string): Promise<object> {
  try {
    const value = await counters.optimisticAdd(id, by)
    return { id: String(id), value: value === null ? null : toJson(value) }
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error
    const { argument, message } = error
    throw new InvalidArgumentError(place + argument, message.slice(argument.length + 1))
  }
}
