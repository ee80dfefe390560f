import type { JobPage } from 'perilune'
import { expect, test } from 'vitest'
import { setup } from '../../test/queue-fixture.ts'

test('dead jobs of a kind are listed page by page, each once though others come and go meanwhile', async () => {
  const { queue } = await setup()
  const jobs = Array.from({ length: 90 }, () => ({ name: 'mail' as const, payload: { to: 'somebody' } }))
  await queue.enqueueMany(jobs)
  const claimed = await queue.claim({ limit: 90 })
  await Promise.all(claimed.map((job, at) => job.bury({ kind: at % 3 === 0 ? 'Odd' : `Other ${at % 3}` })))
  const odd = claimed.filter((_, at) => at % 3 === 0).map(({ id }) => id)

  const seen: string[] = []
  let after: string | null = '0'
  while (after !== null) {
    const page: JobPage = await queue.jobs.list('dead', { kind: 'Odd', limit: 7, after })
    seen.push(...page.jobs.map(({ id }) => id))
    // Places would shift by two a page.
    await queue.jobs.requeue(page.jobs.slice(0, 2).map(({ id }) => id))
    after = page.next
  }

  expect(seen).toEqual(odd)
  expect((await queue.jobs.list('dead', { kind: 'Odd' })).jobs).toHaveLength(odd.length - 10)
  expect(await queue.jobs.list('dead', { kind: 'unknown' })).toEqual({ jobs: [], next: null })
  await expect(queue.jobs.list('done', { kind: 'Odd' })).rejects.toMatchObject({ argument: 'kind' })
  await expect(queue.jobs.list('dead', { kind: '' })).rejects.toMatchObject({ argument: 'kind' })
  await expect(queue.jobs.list('dead', { kind: 'Odd', after: 'x' })).rejects.toMatchObject({
    argument: 'after',
  })
})
