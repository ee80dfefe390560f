// Asking for suggestions: a plain read where the query is a hot prefix, else one script call, which only reads. Where
// expired entries hide others, they are removed and the question is put again.

import { find, reap, suggest } from '../generated/autocomplete.ts'
import { checkInteger, checkOneOf, checkOptions, checkText } from '../runtime/arguments.ts'
import type { Codec } from '../runtime/codec.ts'
import type { Unit } from '../runtime/unit.ts'
import { fold } from './folding.ts'
import { askFront, type Pace } from './front.ts'
import { type Entry, readRecord } from './record.ts'

export interface SuggestOptions {
  /** At most so many, up to 100. Default 10. */
  limit?: number
  /** With 1, those that match with one edit follow where there are too few others. Default 0. */
  fuzzy?: 0 | 1
}

export interface Suggestion<Payload> {
  readonly id: string
  /** As it was added. */
  readonly text: string
  readonly score: number
  /** Null where none was added. */
  readonly payload: Payload | null
  /** True where it matches with one edit only. */
  readonly edited: boolean
}

export interface Asked {
  readonly query: string
  readonly limit: number
  readonly fuzzy: boolean
}

const MOST_QUERY_BYTES = 512

/** Checks a question. Throws InvalidArgumentError. */
export function toAsked(query: unknown, options: SuggestOptions): Asked {
  checkOptions('options', options, ['limit', 'fuzzy'])
  return {
    query: query === '' ? '' : fold(checkText('query', query, MOST_QUERY_BYTES)),
    limit: checkInteger('limit', options.limit ?? 10, 1, 100),
    fuzzy: checkOneOf('fuzzy', String(options.fuzzy ?? 0), ['0', '1']) === '1',
  }
}

export interface Source<Payload> {
  readonly unit: Unit
  readonly codec: Codec<Payload>
  readonly pace: Pace
}

export async function askFor<Payload>(
  { unit, codec, pace }: Source<Payload>,
  asked: Asked,
): Promise<Suggestion<Payload>[]> {
  const by = performance.now() + unit.runtime.runner.deadlineMs
  const question = { codec: codec.name, ...asked }
  const told = (await askFront(unit, pace, question, by)) ?? (await askScript(unit, question, by))
  return told.map(({ id, text, score, payload, edited }) => {
    return { id, text, score, payload: payload.length === 0 ? null : codec.decode(payload), edited }
  })
}

type Question = Asked & { readonly codec: string }

/** Runs the query until nothing that has expired hides what is asked for. */
async function askScript(unit: Unit, question: Question, by: number): Promise<Entry[]> {
  let answer = await askOnce(unit, question, { by })
  for (let more = true; answer.short && more; ) {
    ;({ more } = await unit.run(reap, {}))
    answer = await askOnce(unit, question, {})
  }
  return answer.entries
}

interface Answer {
  readonly short: boolean
  readonly entries: Entry[]
}

/** What matches with an edit costs so much that raw records spare little. */
async function askOnce(unit: Unit, question: Question, trace: { by?: number }): Promise<Answer> {
  if (question.fuzzy) {
    const { short, suggestions } = await unit.run(suggest, question, trace)
    return { short, entries: suggestions }
  }
  const { short, records } = await unit.run(find, question, trace)
  return { short, entries: records.map((record) => readRecord(record, 0, record.length, false)) }
}
