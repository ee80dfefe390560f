import { getEventListeners } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { onAbort } from './aborts.ts'

function listenersOf(signal: AbortSignal): number {
  return getEventListeners(signal, 'abort').length
}

test('each task runs once when the signal aborts', () => {
  const stop = new AbortController()
  const ran: string[] = []
  onAbort(stop.signal, () => ran.push('one'))
  onAbort(stop.signal, () => ran.push('other'))

  stop.abort()
  stop.abort()

  expect(ran).toEqual(['one', 'other'])
})

test('if the signal has aborted, the task runs at once', () => {
  const ran: string[] = []

  onAbort(AbortSignal.abort(), () => ran.push('late'))

  expect(ran).toEqual(['late'])
})

test('a cancelled task does not run, even if another task cancels it', () => {
  const stop = new AbortController()
  const ran: string[] = []
  const forget = onAbort(stop.signal, () => ran.push('forgotten'))
  onAbort(stop.signal, () => forgetOther())
  const forgetOther = onAbort(stop.signal, () => ran.push('stopped by another'))

  forget()
  stop.abort()

  expect(ran).toEqual([])
})

test('a thousand tasks need one listener, which is removed with the last of them', async () => {
  const warnings: Error[] = []
  const warn = (warning: Error): void => void warnings.push(warning)
  process.on('warning', warn)
  onTestFinished(() => void process.off('warning', warn))
  const { signal } = new AbortController()

  const forgets = Array.from({ length: 1000 }, () => onAbort(signal, () => undefined))
  expect(listenersOf(signal)).toBe(1)
  for (const forget of forgets) forget()
  await new Promise((resolve) => setImmediate(resolve))

  expect(listenersOf(signal)).toBe(0)
  expect(warnings).toEqual([])
})

test('without a signal no listener is added', () => {
  expect(() => onAbort(undefined, () => expect.fail('it ran'))()).not.toThrow()
})
