// Runs producers and observers in several processes against one server, while something goes wrong.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkHistory, type HistoryLine, type Verdict } from './feed-history.ts'
import type { Assignment } from './feed-worker.ts'

export interface SoakOptions {
  port: number
  forMs: number
  seed: number
  processes?: number
  producersEach?: number
  /** Goes on beside the load until the signal aborts. */
  disturb?: (signal: AbortSignal) => Promise<void>
}

const WORKER = fileURLToPath(new URL('feed-worker.ts', import.meta.url))

export async function soakFeed(options: SoakOptions): Promise<Verdict> {
  const { port, forMs, seed, processes = 4, producersEach = 4 } = options
  const dir = mkdtempSync(join(tmpdir(), 'perilune-soak-'))
  const feed = `soak ${seed} ${process.pid}`
  const workers = Array.from({ length: processes }, (_, at) => {
    const assignment: Assignment = {
      name: `p${at}`,
      port,
      feed,
      history: join(dir, `p${at}.jsonl`),
      seed: seed + at * 10_000,
      producers: producersEach,
      forMs,
      client: at % 2 === 0 ? 'ioredis' : 'node-redis',
    }
    return { assignment, child: start(assignment) }
  })
  try {
    await disturbed(options.disturb, () => Promise.all(workers.map(({ child }) => produced(child))))
    for (const { child } of workers) child.send('finish')
    await Promise.all(workers.map(({ child }) => ended(child)))
    return checkHistory(workers.flatMap(({ assignment }) => readHistory(assignment.history)))
  } finally {
    for (const { child } of workers) child.kill('SIGKILL')
    rmSync(dir, { recursive: true, force: true })
  }
}

async function disturbed(disturb: SoakOptions['disturb'], load: () => Promise<unknown>): Promise<void> {
  const over = new AbortController()
  const disturbing = disturb?.(over.signal)
  await load()
  over.abort()
  await disturbing
}

function start(assignment: Assignment): ChildProcess {
  return fork(WORKER, [JSON.stringify(assignment)], { execArgv: ['--import', 'tsx'], stdio: 'inherit' })
}

async function produced(child: ChildProcess): Promise<void> {
  const [message] = await Promise.race([once(child, 'message'), once(child, 'exit')])
  if (message !== 'produced') throw new Error(`a process of the soak ended with ${String(message)}`)
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null) await once(child, 'exit')
  if (child.exitCode !== 0) throw new Error(`a process of the soak ended with ${child.exitCode}`)
}

function readHistory(path: string): HistoryLine[] {
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line) as HistoryLine)
}
