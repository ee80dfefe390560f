import { expect, test } from 'vitest'
import { fitName } from './fit-name.ts'

const half = (code: number): string => `a${String.fromCharCode(code)}b`

test('a text that may be a name is its own name', () => {
  expect(fitName('naïve 🙂')).toBe('naïve 🙂')
})

test('texts that may be none have names of their own, each another', () => {
  const long = 'x'.repeat(600)
  const texts = ['', '\n', '\t', long, `${long}y`, half(0xd800), half(0xd801), half(0xdc00)]
  const names = texts.map((text) => fitName(text))

  // What somebody calls as another one's hash is hashed itself.
  const all = [...names, ...names.map((name) => fitName(name))]
  expect(new Set(all).size).toBe(all.length)
  expect(all.every((name) => /^sha256:[0-9a-f]{64}$/.test(name))).toBe(true)
})
