// A process of contending clients that gets its jobs by messages of its parent, one after the other.

import { once } from 'node:events'
import { answer, answerJobs } from '../harness/answering.ts'
import { SEMAPHORES } from '../semaphores/contenders.ts'
import { LOCKS } from './contenders.ts'
import { type Crowd, contend } from './crowd.ts'
import { type Job, OPEN } from './job.ts'
import { openStand } from './stand.ts'

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

await answerJobs(work)
