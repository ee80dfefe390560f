// The counters of a running service: a prerequisite of its readiness, flushed by it unless another process does that,
// and watched in its log.

import type { FastifyBaseLogger } from 'fastify'
import type { Flushing, Loss, Perilune } from 'perilune'
import type { Prerequisite } from '../health/readiness.ts'
import { within } from '../process/within.ts'
import { needOf, type OpenCounters, openCounters, type Tables, troubleOf } from './open-counters.ts'

export interface CountersAtWork {
  readonly counters: readonly OpenCounters[]
  readonly needs: readonly Prerequisite[]
  /** Flushes in the background until the returned object is closed. */
  flush(): BackgroundFlush
}

interface BackgroundFlush {
  /** Flushes the pending increments, with a time limit. */
  close(): Promise<void>
}

type OnTrouble = (key: string, reason: string) => void

// Increments that are still pending then stay in Redis for the next flush of any process.
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
