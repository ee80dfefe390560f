// One run: processes at work, a fault, recovery, the end; then their records are judged.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { audit } from '../audit/audit.ts'
import { ask } from '../servers/ask.ts'
import { type Cell, luckOf } from './cell.ts'
import { CHECKERS } from './checkers/all.ts'
import { calls } from './checkers/calls.ts'
import { FAULTS } from './faults/all.ts'
import { type History, historyOf, readHistory } from './history.ts'
import { Deal, type Terms } from './terms.ts'
import { TOPOLOGIES } from './topologies/all.ts'
import type { Stage } from './topologies/topology.ts'
import { WorkerProcess } from './worker-process.ts'

const WARM_MS = 800
const AFTER_MS = 300
const SHOWN = 5

export interface RunOptions {
  /** How many are at work; default 3. */
  readonly processes?: number
  /** Keeps the histories of sound runs, too. */
  readonly keeps?: boolean
}

export interface Verdict {
  readonly cell: Cell
  readonly violations: readonly string[]
  readonly calls: number
  readonly failed: number
  readonly unknown: number
  readonly ms: number
  /** The folder of the histories; null: there is no fault, and they are deleted. */
  readonly folder: string | null
}

let runs = 0

/** Runs a cell on a stage of its topology. */
export async function runCell(cell: Cell, stage: Stage, options: RunOptions = {}): Promise<Verdict> {
  const { processes = 3, keeps = false } = options
  const folder = mkdtempSync(join(tmpdir(), 'perilune-fire-'))
  const began = performance.now()
  const deal = new Deal()
  for (const { port } of await stage.primaries()) await ask(port, 'FLUSHALL')
  const { problems, isOver } = await play(cell, stage, folder, deal, processes)
  const history = readHistory(folder)
  // When it was aborted, calls were under way, and the remaining data was not read.
  const judged = isOver ? judge(cell, history, deal) : few(history.crashes)
  const violations = [...problems, ...judged]
  const keep = keeps || violations.length > 0
  if (!keep) rmSync(folder, { recursive: true })
  const count = (outcome: string): number => history.calls.filter((call) => call.outcome === outcome).length
  return {
    cell,
    violations,
    calls: history.calls.length,
    failed: count('failed'),
    unknown: count('unknown'),
    ms: performance.now() - began,
    folder: keep ? folder : null,
  }
}

interface Played {
  /** Failures of the processes themselves. */
  readonly problems: readonly string[]
  readonly isOver: boolean
}

async function play(
  cell: Cell,
  stage: Stage,
  folder: string,
  deal: Deal,
  processes: number,
): Promise<Played> {
  const topology = TOPOLOGIES[cell.topology]
  const fault = FAULTS[cell.fault]
  if (topology === undefined || fault === undefined) throw new Error(`no cell ${JSON.stringify(cell)}`)
  const namespace = `fire-${++runs}`
  const workers = Array.from({ length: processes }, (_, process) => {
    const { replicated } = topology
    const order = { cell, way: stage.way, namespace, process, processes, folder, replicated }
    return new WorkerProcess(order)
  })
  const all = (tell: (worker: WorkerProcess) => Promise<void>): Promise<void[]> =>
    Promise.all(workers.map(tell))
  try {
    await all((worker) => worker.says('ready'))
    await all((worker) => worker.does('begin'))
    await sleep(WARM_MS)
    await all((worker) => worker.does('go-on'))
    const luck = luckOf(cell, 'fault')
    const { replicated } = topology
    await fault.happen({ stage, victims: workers, luck, deal, folder, replicated })
    await deal.during('trouble', () => stage.whole())
    await all((worker) => worker.does('go-on'))
    await sleep(AFTER_MS)
    await all((worker) => worker.does('finish'))
    await workers[0]?.does('look')
    await all((worker) => worker.does('end'))
    const problems = [...workers.flatMap((worker) => worker.problems), ...(await left(stage, namespace))]
    return { problems, isOver: true }
  } catch (error) {
    return { problems: [...workers.flatMap((worker) => worker.problems), String(error)], isOver: false }
  } finally {
    for (const worker of workers) worker.kill()
    await stage.whole()
  }
}

/** Inconsistencies of the stored data. */
async function left(stage: Stage, namespace: string): Promise<string[]> {
  const primaries = await stage.primaries()
  const faults = await Promise.all(
    primaries.map(async ({ port }) => {
      const client = new Redis(port)
      try {
        return await audit(client, namespace)
      } finally {
        client.disconnect()
      }
    }),
  )
  return few(faults.flat())
}

function judge(cell: Cell, history: History, terms: Terms): string[] {
  const found = cell.structures.flatMap((structure) => {
    const own = CHECKERS[structure]?.(historyOf(history, structure), terms) ?? ['there is no checker']
    return few(own).map((violation) => `${structure}: ${violation}`)
  })
  return [...few(calls(history, terms)), ...found]
}

/** One cause may have a thousand effects. */
function few(violations: readonly string[]): string[] {
  const more = violations.length - SHOWN
  return more > 0 ? [...violations.slice(0, SHOWN), `and ${more} more`] : [...violations]
}
