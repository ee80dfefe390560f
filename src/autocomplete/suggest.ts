// Answers a query with a plain read if it is known which front answers it, else with one read-only script call.
// Expired entries that hide others are removed and the query is repeated, until the deadline of the call.

import { find, suggest } from '../generated/autocomplete.ts'
import { checkFlag, checkInteger, checkOptions, checkText } from '../runtime/values/arguments.ts'
import type { Codec } from '../runtime/values/codec.ts'
import { DriverError } from '../runtime/errors/errors.ts'
import { answered } from '../runtime/time/in-time.ts'
import { closed } from '../runtime/calls/runner.ts'
import type { Unit } from '../runtime/connection/unit.ts'
import { fold, foldPlain } from './fold.ts'
import { FRONT_PLACES, KnownFronts, readEntries, readFront } from './front.ts'
import { reapTogether } from './reap.ts'
import { payloadOf, readRecord, type Suggestion, toPacked } from './suggestion.ts'

export interface SuggestOptions {
  /** The number of suggestions at most, 1 to 100. Default: 10. */
  limit?: number
  /** True: matches with one edit follow when there are too few exact matches. Default: false. */
  fuzzy?: boolean
}

interface Question {
  readonly codec: string
  readonly query: string
  readonly limit: number
  readonly fuzzy: boolean
}

const MOST_QUERY_BYTES = 512

export class Suggester<Payload> {
  readonly #unit: Unit
  readonly #codec: Codec<Payload>
  readonly #fronts: string
  readonly #known: KnownFronts

  constructor(unit: Unit, codec: Codec<Payload>) {
    this.#unit = unit
    this.#codec = codec
    this.#fronts = `${unit.beginning}fronts`
    this.#known = KnownFronts.of(unit.runtime)
  }

  /** Rejects with InvalidArgumentError for an invalid query or option. */
  async ask(query: unknown, options: SuggestOptions): Promise<Suggestion<Payload>[]> {
    const question = this.#toQuestion(query, options)
    const by = performance.now() + this.#unit.runtime.runner.deadlineMs
    const front = await this.#readFront(question, by)
    if (front !== null) return front
    return this.#askScript(question, by)
  }

  #toQuestion(query: unknown, options: SuggestOptions): Question {
    checkOptions('options', options, ['limit', 'fuzzy'])
    const plain = foldPlain(query, MOST_QUERY_BYTES)
    return {
      codec: this.#codec.name,
      query: plain ?? (query === '' ? '' : fold(checkText('query', query, MOST_QUERY_BYTES))),
      limit: checkInteger('limit', options.limit ?? 10, 1, 100),
      fuzzy: checkFlag('fuzzy', options.fuzzy ?? false),
    }
  }

  /** Resolves to null when only the script can answer. */
  async #readFront({ query, limit }: Question, by: number): Promise<Suggestion<Payload>[] | null> {
    const { server, runner } = this.#unit.runtime
    if (limit > FRONT_PLACES || server.info === null || runner.closed) return null
    const field = this.#known.get(this.#fronts + query)
    if (field === undefined) return null
    const front = await readFront(this.#unit, this.#fronts, field, by)
    return front === null ? null : readEntries(front, query, this.#codec, limit)
  }

  /** Runs the query until no expired entry hides others. Throws DriverError `busy` when that takes too long. */
  async #askScript(question: Question, by: number): Promise<Suggestion<Payload>[]> {
    let answer = await this.#askOnce(question, { by })
    for (let more = true; answer.short && more; ) {
      ;({ more } = await this.#until(by, reapTogether(this.#unit, question.query, question.fuzzy)))
      answer = await this.#until(by, this.#askOnce(question, {}))
    }
    if (question.limit <= FRONT_PLACES) this.#known.set(this.#fronts + question.query, answer.front)
    return answer.found
  }

  async #until<Value>(by: number, answer: Promise<Value>): Promise<Value> {
    const { runner } = this.#unit.runtime
    const inTime = await answered(answer, by, runner.deadlines)
    if (inTime !== null) return inTime.value
    if (runner.closed) throw closed()
    const { name } = this.#unit.place
    throw new DriverError(
      'busy',
      `autocomplete '${name}': expired entries hide others and are being removed; retry`,
    )
  }

  /** A fuzzy match costs so much that raw records would save little. */
  async #askOnce(question: Question, trace: { by?: number }): Promise<Answer<Payload>> {
    const codec = this.#codec
    if (question.fuzzy) {
      const { short, front, suggestions } = await this.#unit.run(suggest, question, trace)
      const found = suggestions.map(({ id, text, score, payload, edited }) => {
        return { id, text, score, ...payloadOf(payload, codec), edited }
      })
      return { short, front, found }
    }
    const { short, front, records } = await this.#unit.run(find, question, trace)
    return {
      short,
      front,
      found: records.map((record) => readRecord(toPacked(record), 0, record.length, codec)),
    }
  }
}

interface Answer<Payload> {
  readonly short: boolean
  readonly front: string
  readonly found: Suggestion<Payload>[]
}
