// The records of the processes of a run: one line of JSON for each event, outside Redis.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export type Facts = Readonly<Record<string, unknown>>

/**
 * `failed`: it certainly did not happen. `unknown`: it may have happened. `odd`: an error that no caller should meet.
 */
export type Outcome = 'ok' | 'failed' | 'unknown' | 'odd'

/** A record of a process. `at`: microseconds, see clock.ts. */
export type Line =
  | {
      did: 'began'
      at: number
      number: number
      structure: string
      what: string
      key: string
      given: Facts
      dueMs: number
    }
  | { did: 'settled'; at: number; number: number; outcome: Outcome; got: Facts; error: string | null }
  | { did: 'saw'; at: number; structure: string; what: string; key: string; facts: Facts }
  | { did: 'crashed'; at: number; error: string }

export interface Call {
  readonly process: number
  readonly structure: string
  readonly what: string
  readonly key: string
  readonly given: Facts
  readonly beganAt: number
  readonly dueMs: number
  /** Infinity: it never did. */
  readonly settledAt: number
  readonly outcome: Outcome | 'hung'
  readonly got: Facts
  readonly error: string | null
}

export interface Sight {
  readonly process: number
  readonly structure: string
  readonly what: string
  readonly key: string
  readonly at: number
  readonly facts: Facts
}

export interface History {
  readonly calls: readonly Call[]
  readonly sights: readonly Sight[]
  /** Unhandled rejections and the like. */
  readonly crashes: readonly string[]
}

export function readHistory(folder: string): History {
  const calls: Call[] = []
  const sights: Sight[] = []
  const crashes: string[] = []
  for (const name of existsSync(folder) ? readdirSync(folder).toSorted() : []) {
    const process = Number(/^process-(\d+)\.jsonl$/.exec(name)?.[1] ?? Number.NaN)
    if (Number.isNaN(process)) continue
    const lines = linesOf(join(folder, name))
    calls.push(...callsOf(lines, process))
    for (const line of lines) {
      if (line.did === 'saw') sights.push({ process, ...line })
      if (line.did === 'crashed') crashes.push(line.error)
    }
  }
  return { calls: calls.toSorted((a, b) => a.beganAt - b.beganAt), sights, crashes }
}

/** The part that one structure wrote. */
export function historyOf(history: History, structure: string): History {
  return {
    calls: history.calls.filter((call) => call.structure === structure),
    sights: history.sights.filter((sight) => sight.structure === structure),
    crashes: history.crashes,
  }
}

/** The last line may be cut where its process was killed. */
function linesOf(file: string): Line[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line): Line => JSON.parse(line))
}

function callsOf(lines: readonly Line[], process: number): Call[] {
  const settled = new Map(lines.flatMap((line) => (line.did === 'settled' ? [[line.number, line]] : [])))
  return lines.flatMap((line): Call[] => {
    if (line.did !== 'began') return []
    const { structure, what, key, given, dueMs, at: beganAt } = line
    const begun = { process, structure, what, key, given, dueMs, beganAt }
    const end = settled.get(line.number)
    if (end === undefined) return [{ ...begun, settledAt: Infinity, outcome: 'hung', got: {}, error: null }]
    const { at: settledAt, outcome, got, error } = end
    return [{ ...begun, settledAt, outcome, got, error }]
  })
}
