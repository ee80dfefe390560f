// A process of contending clients, told what to do by messages of its parent, one job after the other.

import { once } from 'node:events'
import { SEMAPHORES } from '../semaphores/contenders.ts'
import { LOCKS } from './contenders.ts'
import { type Crowd, contend } from './crowd.ts'
import { type Answer, type Job, OPEN } from './job.ts'
import { firstLine, openStand } from './stand.ts'

const trueNow = Date.now

async function work(job: Job): Promise<Crowd> {
  const list = job.kind === 'lock' ? LOCKS : SEMAPHORES
  const contender = list.find(({ name }) => name === job.contender)
  if (contender === undefined) throw new Error(`there is no ${job.contender}`)
  // Contenders that trust the clock of their process ask `Date.now`.
  Date.now = () => trueNow() + job.skewMs
  const { port, clients } = job
  const stand = await openStand(contender, job.terms, { port, clients, connections: 'shared' })
  try {
    const go = once(process, 'message')
    answer(OPEN)
    await go
    return await contend(stand.clients, job.contention, job.first)
  } finally {
    await stand.close()
  }
}

function answer(message: Answer): void {
  process.send?.(message)
}

async function serve(): Promise<void> {
  for (;;) {
    const [job]: Job[] = await once(process, 'message')
    if (job !== undefined) answer(await work(job).catch((error: unknown) => ({ refusal: firstLine(error) })))
  }
}

// Its parent may die without a word.
process.once('disconnect', () => process.exit())
await serve()
