// The public types of our classes: the types of the built library, without declarations that are marked as internal.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { filesIn, textOf } from '../tools/measure/source-files.ts'

const ROOT = join(import.meta.dirname, '..')

const TYPE = /^(?:export )?(?:declare )?(?:abstract )?(?:class|interface) (?<type>\w+)/
const MEMBER =
  /^ {2}(?:(?:static|protected|readonly|override|abstract|async|get|set) )*["']?(?<member>~?\w+)["']?[?(<:;]/

interface Shown {
  /** `Lock.clear`. */
  readonly member: string
  readonly internal: boolean
}

/** The members of the classes and interfaces of a module, whose text is formatted. */
function membersOf(text: string): Shown[] {
  let [type, comment, internal] = ['', false, false]
  return text.split('\n').flatMap((line) => {
    type = TYPE.exec(line)?.groups?.['type'] ?? (line.startsWith('}') ? '' : type)
    if (/^ {2}\/\*\*/.test(line)) [comment, internal] = [true, false]
    if (comment) {
      internal ||= line.includes('@internal')
      comment = !line.includes('*/')
      return []
    }
    const member = MEMBER.exec(line)?.groups?.['member']
    if (type === '' || member === undefined) return []
    const shown = { member: `${type}.${member}`, internal }
    internal = false
    return [shown]
  })
}

function inSources(): string[] {
  const files = filesIn(ROOT, 'src', '.ts').filter((path) => !path.endsWith('.test.ts'))
  return files
    .flatMap((path) => membersOf(textOf(ROOT, path)))
    .flatMap(({ member, internal }) => (internal ? [member] : []))
}

function inBuilt(): Set<string> {
  const files = readdirSync(join(ROOT, 'dist')).filter((name) => name.endsWith('.d.mts'))
  return new Set(files.flatMap((name) => membersOf(textOf(ROOT, `dist/${name}`))).map(({ member }) => member))
}

test('declarations for our own files only are marked as internal', () => {
  expect(inSources()).toEqual(
    expect.arrayContaining([
      'Attempt.completeAnyway',
      'Cache.serve',
      'ClaimedJob.ackThen',
      'ClaimedJob.endsAt',
      'ClaimedJob.lose',
      'ClaimedJob.noteAckEnded',
      'ClaimedJob.noteAcked',
      'ClaimedJob.noteExtended',
      'ClaimedJob.number',
      'ClaimedJob.stop',
      'ClaimedJob.takePayload',
      'Connection.runtime',
      'HasRuntime.runtime',
      'Jobs.partitionsOf',
      'LoadContext.kept',
      'Lock.terms',
      'Lock.unit',
      'LockAccess.abandon',
      'LockAccess.keep',
      'Settings.inspectAll',
    ]),
  )
})

test('the published types contain none of them', () => {
  const shown = inBuilt()

  expect(shown).toContain('Lock.clear')
  expect(shown).toContain('HasRuntime.close')
  expect(inSources().filter((member) => shown.has(member))).toEqual([])
  expect(
    [...shown].filter((member) => member.includes('.~')),
    'but what a standard calls so',
  ).toEqual(['Schema.~standard'])
})
