import { expect, test } from 'vitest'
import { completed } from './arguments.ts'

test('bytes are copied, in lists and records too: the caller may write into them before they are sent', () => {
  const buffer = Buffer.from('a')
  const takes = { one: 'bytes', some: ['bytes'], rows: [{ name: 'text', body: 'bytes' }] } as const

  const args = completed(
    { takes, defaults: {} },
    { one: buffer, some: [buffer, 'text'], rows: [{ name: 'n', body: buffer }] },
  )
  buffer.fill('x')

  const a = Buffer.from('a')
  expect(args).toEqual({ one: a, some: [a, 'text'], rows: [{ name: 'n', body: a }] })
})
