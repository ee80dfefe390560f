// The readers of one process.

import { setTimeout as sleep } from 'node:timers/promises'
import { nowMs, type Source } from './contender.ts'
import { Database } from './database.ts'
import type { Job, Report, Task, Through } from './job.ts'
import { Keys } from './keys.ts'

const FILLED_AT_ONCE = 100

type Of<Kind extends Task['kind']> = Extract<Task, { kind: Kind }>

/** Resolves when all that was begun has ended. Rejects when the work cannot be done in its time. */
export async function readAll(source: Source, job: Job, fromMs: number): Promise<Report> {
  const { loadMs, connections, task } = job.work
  const readers = new Readers(source, new Database(loadMs, connections))
  if (task.kind === 'through') await fill(source, job, task, fromMs)
  await sleepUntil(task.kind === 'through' ? fromMs + task.fillMs - task.aheadMs : fromMs)
  if (task.kind === 'once') await readOnce(readers, job, task)
  else if (task.kind === 'again') await readAgain(readers, job, task, fromMs)
  else await readThrough(readers, job, task)
  return readers.report()
}

class Readers {
  readonly #source: Source
  readonly #database: Database
  readonly #atMs: number[] = []
  readonly #tookMs: number[] = []
  #errors = 0
  #complaint: string | null = null

  constructor(source: Source, database: Database) {
    this.#source = source
    this.#database = database
  }

  /** Does not reject. */
  async read(key: string): Promise<void> {
    const atMs = nowMs()
    try {
      const value = await this.#source.get(key, () => this.#database.ask(key))
      if (value?.id !== key) this.#note('it gave another value')
    } catch (error) {
      this.#note(String(error))
    }
    this.#atMs.push(atMs)
    this.#tookMs.push(nowMs() - atMs)
  }

  #note(complaint: string): void {
    this.#errors++
    this.#complaint ??= complaint
  }

  report(): Report {
    return {
      loads: this.#database.loads,
      readAtMs: this.#atMs,
      readTookMs: this.#tookMs,
      errors: this.#errors,
      complaint: this.#complaint,
    }
  }
}

async function readOnce(readers: Readers, job: Job, task: Of<'once'>): Promise<void> {
  await Promise.all(Array.from({ length: shareOf(job, task.readers) }, () => readers.read(task.key)))
}

async function readAgain(readers: Readers, job: Job, task: Of<'again'>, fromMs: number): Promise<void> {
  const reader = async (): Promise<void> => {
    while (nowMs() < fromMs + task.ms) {
      await readers.read(task.key)
      await sleep(task.thinkMs * (0.5 + Math.random()))
    }
  }
  await Promise.all(Array.from({ length: shareOf(job, task.readers) }, reader))
}

/** Of so many in all processes. */
function shareOf({ at, processes }: Job, count: number): number {
  return Math.floor((count + processes - 1 - at) / processes)
}

/** The share of this process, some at a time; the database of the readers is left alone. */
async function fill(
  source: Source,
  { at, processes, work }: Job,
  task: Through,
  fromMs: number,
): Promise<void> {
  const put = source.fill
  if (put === undefined) throw new Error('it cannot be filled')
  const database = new Database(work.loadMs, Infinity)
  const mine = new Keys(task.keys).all.filter((_, place) => place % processes === at)
  const endsAtMs = fromMs + task.fillMs
  for (let from = 0; from < mine.length; from += FILLED_AT_ONCE) {
    const some = mine.slice(from, from + FILLED_AT_ONCE)
    await Promise.all(some.map((key) => put(key, () => database.ask(key), endsAtMs)))
  }
  const lateMs = nowMs() - (endsAtMs - task.aheadMs)
  if (lateMs > 0) throw new Error(`the cache was filled ${Math.ceil(lateMs)} ms too late`)
}

/** As many reads as are due, whatever has become of those before; all are waited for at the end. */
async function readThrough(readers: Readers, { at, processes }: Job, task: Through): Promise<void> {
  const keys = new Keys(task.keys, at + 1)
  const perMs = task.readsPerSecond / processes / 1000
  const reads: Promise<void>[] = []
  const beganAtMs = nowMs()
  const lastMs = task.aheadMs + task.afterMs
  for (let passedMs = 0; passedMs < lastMs; passedMs = nowMs() - beganAtMs) {
    while (reads.length < passedMs * perMs) reads.push(readers.read(keys.byZipf()))
    await sleep(1)
  }
  await Promise.all(reads)
}

async function sleepUntil(atMs: number): Promise<void> {
  const ms = atMs - nowMs()
  if (ms > 0) await sleep(ms)
}
