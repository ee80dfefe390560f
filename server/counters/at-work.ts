// The counters of a service that runs: needed, flushed where nobody else does it, and told of in its log.

import type { FastifyBaseLogger } from 'fastify'
import type { Flushing, Loss, Perilune } from 'perilune'
import type { Prerequisite } from '../health/readiness.ts'
import { within } from '../process/within.ts'
import { needOf, type OpenCounters, openCounters, type Tables, troubleOf } from './open-counters.ts'

export interface CountersAtWork {
  readonly counters: readonly OpenCounters[]
  readonly needs: readonly Prerequisite[]
  /** Flushes in the background, until what it answers is closed. */
  flush(): BackgroundFlush
}

interface BackgroundFlush {
  /** Flushes what is pending, unless that takes long. */
  close(): Promise<void>
}

type OnTrouble = (key: string, reason: string) => void

// What is pending by then stays where it is, and whoever flushes next brings it.
const CLOSING_MS = 5000

/** Throws StartError. */
export function countersAtWork(
  perilune: Perilune,
  tables: Tables,
  log: () => FastifyBaseLogger | undefined,
): CountersAtWork {
  const onTrouble: OnTrouble = (key, reason) =>
    log()?.warn({ counters: key, reason }, 'the database of counters failed')
  const onLoss = (key: string, loss: Loss): void =>
    log()?.error({ counters: key, loss }, 'increments were lost')
  const counters = openCounters(perilune, tables, onLoss)
  return {
    counters,
    needs: counters.map((each) => needOf(each, (reason) => onTrouble(each.entry.key, reason))),
    flush: () => flushInBackground(counters, onTrouble),
  }
}

function flushInBackground(all: readonly OpenCounters[], onTrouble: OnTrouble): BackgroundFlush {
  const flushing = all.flatMap(({ entry: { key, flushEvery }, counters }): Flushing[] => {
    const onError = (error: unknown): void => onTrouble(key, troubleOf(error))
    return flushEvery === null ? [] : [counters.flushEvery(flushEvery, { onError })]
  })
  return {
    async close() {
      await within(CLOSING_MS, Promise.all(flushing.map((each) => each.close())))
    },
  }
}
