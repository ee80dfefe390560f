// The page of the doctor names what the command has.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CHECKS } from './checks/all.ts'
import { HELP } from './command.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/guides/doctor.md'), 'utf8')
const rows = [...page.matchAll(/^\| `([a-z][a-z-]*)` \| ([^|]+) \|/gm)].map(([, id, title]) => [id, title])
const checks = CHECKS.map(({ id, title }) => [id, title])

test('the table of checks has each check with its title, in the order of the report', () => {
  expect(rows.slice(0, checks.length)).toEqual(checks)
})

test('the page names every option, and the checks for which `unknown` does not count', () => {
  const options = [...HELP.matchAll(/^ {2}(--[a-z]+)/gm)].map(([, option = '']) => option)

  expect(options.filter((option) => option !== '--help' && !page.includes(option))).toEqual([])
  const [line = ''] = /^`unknown` does not count for .*$/m.exec(page) ?? []
  const named = [...line.matchAll(/`([a-z-]+)`/g)].slice(1).map(([, id = '']) => id)
  expect(named.toSorted()).toEqual(
    CHECKS.filter(({ essential }) => !essential)
      .map(({ id }) => id)
      .toSorted(),
  )
})
