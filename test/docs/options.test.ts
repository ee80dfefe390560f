import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { optionTypesIn, withOptions } from '../../tools/docs/options.ts'

const SOURCE = `
export interface Waiting {
  /** How long to wait; default: not at all. */
  wait?: Duration
  /** Ends the waiting. */
  signal?: AbortSignal
}

/** No option itself. */
export interface Acquire extends Omit<Waiting, 'signal'> {
  /**
   * The kind, 'a' or 'b'. Default 'a'.
   */
  kind?: 'a' | 'b'
  /** Who asks. */
  holder: string
}
`

function typesOf(source: string): ReturnType<typeof optionTypesIn> {
  const root = mkdtempSync(join(tmpdir(), 'perilune-options-'))
  mkdirSync(join(root, 'src'))
  writeFileSync(join(root, 'src', 'acquire.ts'), source)
  return optionTypesIn(root, 'src')
}

function page(names: string): string {
  return `before\n<!-- generated:options ${names} -->\nold\n<!-- /generated:options -->\nafter\n`
}

test('a table of options has the types, meanings and defaults of an interface and of those that it extends', () => {
  expect(withOptions(page('Acquire'), typesOf(SOURCE))).toBe(`before
<!-- generated:options Acquire -->

| option | type | meaning | default |
| --- | --- | --- | --- |
| \`kind\` | \`'a' \\| 'b'\` | The kind, 'a' or 'b'. | 'a' |
| \`holder\` | \`string\` | Who asks. | required |
| \`wait\` | \`Duration\` | How long to wait. | not at all |

<!-- /generated:options -->
after
`)
})

test('a page that wants the options of an unknown type is an error', () => {
  expect(() => withOptions(page('Aquire'), typesOf(SOURCE))).toThrow(
    "no exported interface of src is called 'Aquire': a page wants its options",
  )
})

test('an option without a docstring is an error that names the file', () => {
  const source = SOURCE.replace('/** Who asks. */', '')
  expect(() => withOptions(page('Acquire'), typesOf(source))).toThrow(
    "src/acquire.ts: option 'holder' has no docstring, and a page shows it",
  )
})
