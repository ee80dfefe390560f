// A worker that has so many jobs done and leaves.

import type { Worker } from './contender.ts'
import { fill } from './jobs.ts'
import type { With } from './stands.ts'

export interface Shift {
  /** Resolves once the server knows that so many are done. */
  run(jobs: number): Promise<void>
  /** Resolves to how many more were begun than `run` asked for. */
  end(): Promise<number>
}

export interface ShiftTerms {
  /** Jobs under way at the same time. */
  readonly concurrency: number
  /** Default: does nothing. */
  readonly handle?: (payload: string) => Promise<void>
}

/** A worker that is connected and takes nothing yet. */
export async function openShift(source: With<'work'>, terms: ShiftTerms): Promise<Shift> {
  const { concurrency, handle = async (): Promise<void> => {} } = terms
  let [begun, asked, done] = [0, 0, (): void => {}]
  const worker: Worker = await source.work({
    concurrency,
    handle: (payload) => {
      begun += 1
      return handle(payload)
    },
    done: () => done(),
  })
  return {
    run: async (jobs) => {
      asked += jobs
      let left = jobs
      await new Promise<void>((resolve) => {
        done = () => void (--left === 0 && resolve())
        worker.start()
      })
    },
    end: async () => {
      await worker.close()
      return begun - asked
    },
  }
}

/** Has as many jobs done as have come to those that wait; as many as before go on to wait. */
export async function workOff(source: With<'work'>, jobs: number, concurrency: number): Promise<void> {
  const shift = await openShift(source, { concurrency })
  await shift.run(jobs)
  await fill(source, await shift.end())
}
