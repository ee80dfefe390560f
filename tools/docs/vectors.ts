// Vectors stand for what scripts answer: every answer of every operation is in one, and each step has the
// arguments that its operation takes.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ShippedContract, ShippedOperation } from '../contract/contract.ts'
import { textOf } from './pages.ts'

interface VectorFile {
  readonly defaults?: Readonly<Record<string, object>>
  readonly vectors: readonly { readonly it: string; readonly steps: readonly Step[] }[]
}

interface Step {
  readonly call?: string
  readonly with?: object
  readonly answer?: unknown
}

/** What is missing in the vectors, as `file problem`. */
export function checkVectors(root: string): string[] {
  const { operations }: ShippedContract = JSON.parse(textOf(root, 'lua/contract.json'))
  const structures = Object.values(operations).map(({ structure }) => structure)
  return [...new Set(structures)].flatMap((structure) => {
    const path = `test/conformance/${structure}.json`
    if (!existsSync(join(root, path))) return []
    const file: VectorFile = JSON.parse(textOf(root, path))
    const own = Object.entries(operations).filter(([, operation]) => operation.structure === structure)
    const problems = own.flatMap(([name, operation]) => [
      ...unansweredOf(name, operation, file),
      ...argumentsOf(name, operation, file),
    ])
    return problems.map((problem) => `${path} ${problem}`)
  })
}

function unansweredOf(name: string, { answers }: ShippedOperation, file: VectorFile): string[] {
  const answered = new Set(
    stepsOf(name, file).flatMap(({ answer }) => (Array.isArray(answer) ? answer[0] : [])),
  )
  return Object.keys(answers)
    .filter((word) => !answered.has(word))
    .map((word) => `no vector in which ${name} answers ${word}`)
}

/** The first step that goes wrong speaks for the others. */
function argumentsOf(name: string, operation: ShippedOperation, file: VectorFile): string[] {
  const declared = operation.arguments.map((argument) => argument.name)
  for (const step of stepsOf(name, file)) {
    const given = Object.keys({ ...file.defaults?.[name], ...step.with })
    const missing = declared.filter((argument) => !given.includes(argument))
    const stray = given.filter((argument) => !declared.includes(argument))
    if (missing.length > 0)
      return [`a step of ${name} lacks ${missing.join(', ')}: name it there, or in defaults`]
    if (stray.length > 0) return [`a step of ${name} has ${stray.join(', ')}, which it does not take`]
  }
  return []
}

function stepsOf(name: string, { vectors }: VectorFile): Step[] {
  return vectors.flatMap(({ steps }) => steps.filter(({ call }) => call === name))
}
