import { expect, test } from 'vitest'
import { fitName } from './fit-name.ts'

const half = (code: number): string => `a${String.fromCharCode(code)}b`

test('a valid name is its own name', () => {
  expect(fitName('naïve 🙂')).toBe('naïve 🙂')
})

test('invalid names are replaced by different names', () => {
  const long = 'x'.repeat(600)
  const texts = ['', '\n', '\t', long, `${long}y`, half(0xd800), half(0xd801), half(0xdc00)]
  const names = texts.map((text) => fitName(text))

  // A text that looks like the hash of another one is hashed itself.
  const all = [...names, ...names.map((name) => fitName(name))]
  expect(new Set(all).size).toBe(all.length)
  expect(all.every((name) => /^sha256:[0-9a-f]{64}$/.test(name))).toBe(true)
})
