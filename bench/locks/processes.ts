// Contending processes: each gets its share of a round, and all begin together.

import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Refusal } from '../harness/answering.ts'
import { ask } from '../harness/asking.ts'
import type { Contender, Terms } from './contender.ts'
import { type Contention, type Crowd, together } from './crowd.ts'
import { type Answer, GO, type Job, OPEN } from './job.ts'

const WORKER = fileURLToPath(new URL('worker.ts', import.meta.url))
const SLACK_MS = 60_000 // to open, which may compile the library, and to end

export interface Round {
  readonly kind: Job['kind']
  readonly contender: Contender
  readonly terms: Terms
  readonly contention: Contention
  readonly clientsEach: number
  /** Of each process in turn. */
  readonly skewsMs?: readonly number[]
}

export class Processes {
  readonly #port: number
  readonly #children: readonly ChildProcess[]

  constructor(port: number, count: number) {
    this.#port = port
    this.#children = Array.from({ length: count }, () =>
      fork(WORKER, { execArgv: ['--import', 'tsx'], serialization: 'advanced' }),
    )
  }

  /** Resolves to why the contender cannot run, if it cannot. Rejects when a process ends or hangs. */
  async run(round: Round): Promise<Crowd | Refusal> {
    const answers = await Promise.all(
      this.#children.map((child, at) => ask<Answer>(child, this.#toJob(round, at), SLACK_MS)),
    )
    const refusal = answers.find(isRefusal)
    const open = this.#children.filter((_, at) => answers[at] === OPEN)
    const waitMs = round.contention.ms + round.terms.giveUpMs + SLACK_MS
    const crowds = await Promise.all(open.map((child) => ask<Answer>(child, GO, waitMs)))
    if (refusal !== undefined) return refusal
    return together(crowds.filter(isCrowd))
  }

  close(): void {
    for (const child of this.#children) child.kill()
  }

  #toJob(round: Round, at: number): Job {
    const { kind, contender, terms, contention, clientsEach: clients, skewsMs = [] } = round
    const skewMs = skewsMs[at] ?? 0
    const first = at * clients
    return { port: this.#port, kind, contender: contender.name, terms, contention, clients, first, skewMs }
  }
}

export function isRefusal(answer: Answer): answer is Refusal {
  return typeof answer === 'object' && 'refusal' in answer
}

function isCrowd(answer: Answer): answer is Crowd {
  return typeof answer === 'object' && 'waits' in answer
}
