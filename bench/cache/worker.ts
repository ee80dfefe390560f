// A process of readers that gets its jobs by messages of its parent, one after the other.

import { once } from 'node:events'
import { answer, answerJobs } from '../harness/answering.ts'
import { toEntry } from './contender.ts'
import { CACHES } from './contenders.ts'
import { type Go, type Job, OPEN, type Report } from './job.ts'
import { readAll } from './readers.ts'

const FIRST = 'first'

async function work(job: Job): Promise<Report> {
  const contender = CACHES.find(({ name }) => name === job.contender)
  if (contender === undefined) throw new Error(`there is no ${job.contender}`)
  const source = await contender.connect(job.port, { freshMs: job.work.freshMs })
  try {
    // Connections and scripts are there before anything is measured.
    await source.get(FIRST, async () => toEntry(FIRST))
    const going = once(process, 'message')
    answer(OPEN)
    const [{ fromMs }] = (await going) as [Go]
    return await readAll(source, job, fromMs)
  } finally {
    await source.close()
  }
}

await answerJobs(work)
