import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Budget } from './budget.ts'

const never = new AbortController().signal

test('takes that do not fit wait for returned bytes, first come, first served within a tenant', async () => {
  const budget = new Budget(10)
  const began: string[] = []
  const take = async (name: string, bytes: number) => {
    const share = await budget.take('x', bytes, never)
    began.push(name)
    return share
  }
  const first = await take('a', 8)
  const waiting = [take('b', 6), take('c', 1)]
  await turn()
  expect(began).toEqual(['a'])

  first.shrinkTo(4)
  const [second] = await Promise.all([waiting[0], turn()])
  expect(began).toEqual(['a', 'b'])
  second?.release()
  await waiting[1]

  expect(began).toEqual(['a', 'b', 'c'])
})

test('a take of more than the whole budget has it alone', async () => {
  const budget = new Budget(10)
  const large = await budget.take('x', 100, never)
  let isServed = false
  const small = budget.take('x', 1, never).then(() => (isServed = true))
  await turn()
  expect(isServed).toBe(false)

  large.release()
  await small
})

test('a take that stops waiting holds up none after it', async () => {
  const budget = new Budget(10)
  await budget.take('x', 9, never)
  const ending = new AbortController()
  const given = budget.take('x', 5, ending.signal)
  const behind = budget.take('x', 1, never)

  ending.abort(new Error('over'))

  await expect(given).rejects.toThrow('over')
  await behind
  await expect(budget.take('x', 5, ending.signal)).rejects.toThrow('over')
})

test('a share is given back once', async () => {
  const budget = new Budget(10)
  const share = await budget.take('x', 6, never)
  share.release()
  share.release()
  await budget.take('x', 10, never)
  const late = budget.take('x', 1, AbortSignal.abort(new Error('full')))
  await expect(late).rejects.toThrow('full')
})

test('tenants take turns, however much each has waiting', async () => {
  const budget = new Budget(10)
  const began: string[] = []
  const take = async (tenant: string): Promise<void> => {
    const share = await budget.take(tenant, 10, never)
    began.push(tenant)
    await turn()
    share.release()
  }

  await Promise.all(['a', 'a', 'a', 'a', 'b', 'c', 'b'].map((tenant) => take(tenant)))

  expect(began.join('')).toBe('aabcaba')
})
