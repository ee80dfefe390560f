// A process of a run: works with all structures of its cell, records what it does and sees, and ends on command.

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { perilune } from 'perilune'
import { type Cell, luckOf } from './cell.ts'
import { nowUs } from './clock.ts'
import { Journal, Recorder } from './recorder.ts'
import { open, type Way } from './way.ts'
import { WORKLOADS } from './workloads/all.ts'
import { DEADLINE_MS, type Site, type Workload } from './workloads/workload.ts'

export interface Order {
  readonly cell: Cell
  readonly way: Way
  readonly namespace: string
  readonly process: number
  readonly processes: number
  readonly folder: string
  readonly replicated: boolean
}

/**
 * `go-on`: report once all kinds of calls have succeeded since. `finish`: end the work. `look`: at the remaining data.
 */
export type Command = 'begin' | 'go-on' | 'finish' | 'look' | 'end'
export type Said = 'ready' | 'gone-on' | 'finished' | 'looked' | { still: string[] } | { failed: string }

// A half-open connection of node-redis over which a large answer is due is dropped after half a minute
// (docs/operations.md).
const PATIENCE_MS = 45_000

const order: Order = JSON.parse(process.argv[2] ?? '')
const journal = new Journal(join(order.folder, `process-${order.process}.jsonl`))
const wordsOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error)
const crash = (error: unknown): void => journal.write({ did: 'crashed', at: nowUs(), error: wordsOf(error) })
process.on('unhandledRejection', crash).on('uncaughtException', crash)
process.once('disconnect', diedAlone)

/** Its parent has died. */
function diedAlone(): void {
  process.exit(1)
}

const opened = await open(order.cell.client, order.way)
const redis = perilune(opened.driver, { namespace: order.namespace, deadline: `${DEADLINE_MS}ms` })
const over = new AbortController()
const parts = order.cell.structures.map(partOf)
let work: Promise<unknown> = Promise.resolve()

process.on('message', (command: Command) => {
  act(command).catch((error: unknown) => say({ failed: wordsOf(error) }))
})
say('ready')

function partOf(structure: string): { workload: Workload; site: Site } {
  const workload = WORKLOADS[structure]
  if (workload === undefined) throw new Error(`there is no structure ${structure}`)
  const { processes, folder, replicated } = order
  const site: Site = {
    redis,
    recorder: new Recorder(journal, structure, DEADLINE_MS),
    process: order.process,
    processes,
    luck: luckOf(order.cell, `${structure} ${order.process}`),
    over: over.signal,
    folder,
    replicated,
  }
  return { workload, site }
}

function say(said: Said): void {
  process.send?.(said)
}

async function act(command: Command): Promise<void> {
  if (command === 'begin') work = Promise.all(parts.map(({ workload, site }) => workload.work(site)))
  if (command === 'go-on') await goOn()
  if (command === 'finish') await finish()
  if (command === 'look') await look()
  if (command === 'end') await end()
}

async function goOn(): Promise<void> {
  const since = nowUs()
  const giveUpAt = performance.now() + PATIENCE_MS
  const still = (): string[] => parts.flatMap(({ site }) => site.recorder.standsStill(since))
  while (still().length > 0 && performance.now() < giveUpAt) await sleep(20)
  say(still().length > 0 ? { still: still() } : 'gone-on')
}

async function finish(): Promise<void> {
  over.abort()
  await work
  say('finished')
}

async function look(): Promise<void> {
  await Promise.all(parts.map(async ({ workload, site }) => workload.look?.(site)))
  say('looked')
}

/** The process must end by itself: anything that keeps it alive after this is a leak. */
async function end(): Promise<void> {
  await redis.close()
  await opened.driver.close()
  await opened.close()
  process.off('disconnect', diedAlone).disconnect()
}
