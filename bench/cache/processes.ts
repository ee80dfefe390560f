// Processes of readers: each gets its share, and all begin together.

import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { ask } from '../harness/asking.ts'
import { type Contender, nowMs } from './contender.ts'
import { type Answer, type Go, OPEN, type Report, type Work } from './job.ts'

const WORKER = fileURLToPath(new URL('worker.ts', import.meta.url))
const OPEN_MS = 60_000 // which may compile the library
const WORK_MS = 180_000
/** Until the word to begin has reached all. */
const AHEAD_MS = 50

/** What all processes together have done. */
export interface Outcome extends Report {
  /** When all began. */
  readonly fromMs: number
}

export class Processes {
  readonly #port: number
  readonly #client: Redis
  readonly #children: readonly ChildProcess[]

  constructor(port: number, count: number) {
    this.#port = port
    this.#client = new Redis(port)
    this.#children = Array.from({ length: count }, () =>
      fork(WORKER, { execArgv: ['--import', 'tsx'], serialization: 'advanced' }),
    )
  }

  /** On an empty server. Rejects when a process cannot do the work, ends or hangs. */
  async run(
    { name: contender }: Contender,
    work: Work,
    onOpen: () => Promise<void> = async () => {},
  ): Promise<Outcome> {
    await this.#client.flushall('SYNC')
    const [port, processes] = [this.#port, this.#children.length]
    const opening = this.#children.map((child, at) =>
      ask<Answer>(child, { port, contender, work, at, processes }, OPEN_MS),
    )
    for (const answer of await Promise.all(opening)) refuse(contender, answer)
    await onOpen()
    const go: Go = { fromMs: nowMs() + AHEAD_MS }
    const answers = await Promise.all(this.#children.map((child) => ask<Answer>(child, go, WORK_MS)))
    for (const answer of answers) refuse(contender, answer)
    return { ...together(answers.filter(isReport)), ...go }
  }

  close(): void {
    for (const child of this.#children) child.kill()
    this.#client.disconnect()
  }
}

function refuse(contender: string, answer: Answer): void {
  if (answer !== OPEN && 'refusal' in answer) throw new Error(`${contender}: ${answer.refusal}`)
}

function isReport(answer: Answer): answer is Report {
  return answer !== OPEN && 'loads' in answer
}

function together(reports: readonly Report[]): Report {
  return {
    loads: reports.flatMap(({ loads }) => loads),
    readAtMs: reports.flatMap(({ readAtMs }) => readAtMs),
    readTookMs: reports.flatMap(({ readTookMs }) => readTookMs),
    errors: reports.reduce((sum, { errors }) => sum + errors, 0),
    complaint: reports.find(({ complaint }) => complaint !== null)?.complaint ?? null,
  }
}
