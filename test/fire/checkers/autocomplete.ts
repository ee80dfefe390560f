import type { Checker } from './checker.ts'
import { wrongLists } from './registers.ts'

export const autocomplete: Checker = wrongLists
