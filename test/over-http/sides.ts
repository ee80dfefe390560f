// The two sides of a history: the handles of the library in one namespace, the routes of the service in another.

import { isDeepStrictEqual } from 'node:util'
import type { Perilune } from 'perilune'
import type { FeedApi } from '../../server/testing/feed-api.ts'
import type { Dice } from '../audit/deed.ts'
import { Labels } from './labels.ts'
import { type Outcome, outcomeOf } from './outcome.ts'
import { Requests, TENANT } from './requests.ts'

const SHOWN_STEPS = 25
const SHOWN_LENGTH = 400

/** A value of each side. */
export interface Pair<Here, There = Here> {
  readonly here: Here
  readonly there: There
}

/** The possible next steps of a history. */
export type Step = () => Promise<unknown>

/** A structure in a history. */
export interface Part {
  /** A step that is listed twice comes twice as often. */
  readonly steps: readonly Step[]
  /** Those that change nothing. All of them are made at the end, too. */
  readonly looks: readonly Step[]
  /** The final content, as the library sees it: also of the unit that the service wrote. */
  contents(redis: Perilune, name: string): Promise<unknown>
}

export class Sides {
  /** The units of this history. Those of the service belong to the tenant. */
  readonly name: string
  readonly dice: Dice
  readonly redis: Perilune
  readonly http: Requests
  readonly #api: FeedApi
  readonly #labels: Pair<Labels> = { here: new Labels(), there: new Labels() }
  readonly #steps: string[] = []

  constructor(name: string, dice: Dice, redis: Perilune, api: FeedApi) {
    this.name = name
    this.dice = dice
    this.redis = redis
    this.http = new Requests(api)
    this.#api = api
  }

  /**
   * Does a step on both sides, first `here`, and throws where the outcomes differ. Resolves to both values, or to null
   * where the step was refused.
   */
  async same<Here, There>(
    what: string,
    here: () => Promise<Here>,
    there: () => Promise<There>,
  ): Promise<Pair<Here, There> | null> {
    const left = await outcomeOf(here)
    const right = await outcomeOf(there)
    const nowMs = Date.now()
    const withReason = hasReason(left) && hasReason(right)
    const seen = {
      here: labelled(left, { labels: this.#labels.here, nowMs, withReason }),
      there: labelled(right, { labels: this.#labels.there, nowMs, withReason }),
    }
    this.#steps.push(`${what.slice(0, SHOWN_LENGTH)} -> ${JSON.stringify(seen.there).slice(0, SHOWN_LENGTH)}`)
    if (!isDeepStrictEqual(seen.here, seen.there)) throw this.#differ(what, seen)
    return 'value' in left && 'value' in right ? { here: left.value, there: right.value } : null
  }

  /** As `same`, for the library's view of both units. */
  async sameContents({ contents }: Part): Promise<void> {
    const prefix = `v1:${TENANT}/`
    await this.same(
      'what is there',
      () => contents(this.redis, this.name),
      () => contents(this.#api.perilune, prefix + this.name),
    )
  }

  #differ(what: string, { here, there }: Pair<unknown>): Error {
    const before = this.#steps.slice(-SHOWN_STEPS, -1).join('\n')
    return new Error(
      `${what}\n  through the library: ${JSON.stringify(here)}\n  over HTTP: ${JSON.stringify(there)}\nafter\n${before}`,
    )
  }
}

/** Handles often say only that it was lost. */
function hasReason(outcome: Outcome<unknown>): boolean {
  return 'refused' in outcome && outcome.reason !== null
}

interface Terms {
  readonly labels: Labels
  readonly nowMs: number
  /** Whether both sides say why. */
  readonly withReason: boolean
}

function labelled(outcome: Outcome<unknown>, { labels, nowMs, withReason }: Terms): object {
  if ('value' in outcome) return { value: labels.applyTo(outcome.value, nowMs) }
  const { refused, reason } = outcome
  const argument = memberOf(outcome.argument)
  return withReason ? { refused, reason, argument } : { refused, argument }
}

/** The service names the place in its request as well: `jobs[1].delay`. */
function memberOf(argument: string | null): string | null {
  return argument?.split('.').at(-1) ?? null
}
