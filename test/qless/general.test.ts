import { InvalidArgumentError } from 'perilune'
import { afterEach, describe, expect, test, vi } from 'vitest'
import contract from '../../lua/contract.json' with { type: 'json' }
import { begin, refusalOf, START_MS } from './fixture.ts'

const operations = Object.entries(contract.operations).filter(([, { structure }]) => structure === 'queue')

afterEach(() => {
  vi.restoreAllMocks()
})

describe('TestAsserts', () => {
  test('test_assertRaisesRegexp: each expected rejection has an error code', async () => {
    const { queue, putAndPop } = await begin()
    const job = await putAndPop('a')
    await job.ack()

    expect(await refusalOf(queue.jobs.get(''))).toBe('ids')
    expect(await refusalOf(job.extend('1m'))).toBe('acked')
    expect(await refusalOf(queue.jobs.get('a'))).toBe('none')
    await expect(refusalOf(Promise.reject(new TypeError('another')))).rejects.toThrow(TypeError)
  })
})

describe('TestGeneral', () => {
  test('test_keys: every script declares all keys that it touches', async () => {
    expect(operations.length).toBeGreaterThan(30)
    expect(operations.filter(([, { keys }]) => keys.length === 0)).toEqual([])

    // All of a queue lie in one slot: their names begin with one hash tag.
    const { client, name, putAndPop } = await begin()
    await (await putAndPop('a')).retry()
    const keys = (await client.keys(`*${name}*`)).filter((key) => !key.endsWith(':clock'))
    expect(keys.length).toBeGreaterThan(2)
    expect(keys.filter((key) => !key.startsWith(`queue-test:{queue:${name}}:`))).toEqual([])
  })

  test('test_unknown_function: an unknown call is rejected by its name, and nothing is sent', async () => {
    const { queue, calls } = await begin()

    const put = queue.enqueue('mail', { to: 'ada' }, { odd: 1 } as never)

    await expect(put).rejects.toThrow(InvalidArgumentError)
    await expect(put).rejects.toThrow('options.odd is not known')
    expect(calls).toEqual([])
  })

  test('test_no_time: no operation takes the time as an argument', async () => {
    const found = operations.flatMap(([operation, { arguments: declared }]) =>
      declared.filter(({ name }) => /^now|^time$|clock/.test(name)).map(({ name }) => `${operation} ${name}`),
    )

    expect(found).toEqual([])
  })

  test('test_malformed_time: a client with a meaningless clock is served by the clock of the server', async () => {
    const { queue, putAndPop } = await begin()
    vi.spyOn(Date, 'now').mockReturnValue(Number.NaN)

    const job = await putAndPop('a')

    expect([job.enqueuedAtMs, job.expiresAtMs]).toEqual([START_MS, START_MS + 60_000])
    expect(await queue.jobs.get('a')).toMatchObject({ atMs: START_MS })
  })
})
