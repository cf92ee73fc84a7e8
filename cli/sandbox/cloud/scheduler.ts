// EventBridge Scheduler, and the rules of EventBridge that do the same: what is called at which times.
import type { CreateScheduleCommandInput, ListSchedulesCommandInput } from "@aws-sdk/client-scheduler";
import { AwsError } from "./protocol/error.ts";
import { isTimeZone, nextTime, parseScheduleExpression } from "./schedule-expression.ts";
import type { World } from "./world.ts";

export interface Schedule extends CreateScheduleCommandInput {
  readonly arn: string;
  readonly createdAt: Date;
}

const keyOf = (name: string | undefined, group = "default") => `${group}/${name}`;

export function openScheduler(world: World, region: string) {
  const schedules = world.collection<Schedule>("scheduler", region, "schedules");
  const scheduleNamed = (name: string | undefined, group: string | undefined): Schedule => {
    const schedule = schedules.get(keyOf(name, group));
    if (schedule === undefined)
      throw new AwsError("ResourceNotFoundException", `Schedule ${name} does not exist.`, 404);
    return schedule;
  };
  const put = (input: CreateScheduleCommandInput): Schedule => {
    const expression = input.ScheduleExpression ?? "";
    if (parseScheduleExpression(expression) === undefined)
      throw new AwsError("ValidationException", `Invalid Schedule Expression ${expression}.`);
    const timeZone = input.ScheduleExpressionTimezone ?? "UTC";
    if (!isTimeZone(timeZone))
      throw new AwsError("ValidationException", `Invalid Schedule Expression Timezone ${timeZone}.`);
    const { Arn = "", RoleArn = "" } = input.Target ?? {};
    const role = world.service("iam").roles.get(RoleArn.split("/").pop()!);
    if (role === undefined || !role.trust.includes("scheduler.amazonaws.com")) {
      throw new AwsError(
        "ValidationException",
        "The execution role you provide must allow AWS EventBridge Scheduler to assume the role.",
      );
    }
    if (!Arn.startsWith("arn:"))
      throw new AwsError("ValidationException", `Provided Arn is not in correct format. ${Arn}`);
    const arn = `arn:aws:scheduler:${region}:${world.accountId}:schedule/${keyOf(input.Name, input.GroupName)}`;
    const schedule: Schedule = { ...input, arn, createdAt: world.clock.date() };
    const key = keyOf(input.Name, input.GroupName);
    schedules.set(key, schedule);
    // A rate without a begin runs at once: its first time is that of its creation, which may be a millisecond ago by now.
    plan(key, schedule.createdAt.getTime() - 1);
    return schedule;
  };
  const tasks = world.tasks("scheduler", region, { run: (key) => void run(key) });
  /** Waits for the next time after `afterMs`; false if there is none. */
  const plan = (key: string, afterMs: number): boolean => {
    tasks.cancel("run", key);
    const schedule = schedules.get(key);
    if (!world.options.runsByClock || schedule === undefined || schedule.State === "DISABLED") return true;
    const { ScheduleExpression = "", ScheduleExpressionTimezone: timeZone, StartDate, EndDate, createdAt } = schedule;
    const fromMs = (StartDate ?? createdAt).getTime();
    const next = nextTime(parseScheduleExpression(ScheduleExpression)!, Math.max(afterMs, fromMs - 1), {
      timeZone,
      fromMs,
    });
    if (next === undefined || (EndDate !== undefined && next > EndDate.getTime())) return false;
    tasks.at(new Date(next), "run", key);
    return true;
  };
  /** After a time in which nothing ran, one run makes up for all that were missed. */
  const run = async (key: string) => {
    const schedule = schedules.get(key);
    if (schedule === undefined) return;
    const hasNext = plan(key, world.clock.now());
    await fire(schedule.Name ?? "", schedule.GroupName).catch((error: Error) => {
      // The function may be gone.
      if (!(error instanceof AwsError)) world.options.report?.(String(error.stack));
    });
    if (!hasNext && schedule.ActionAfterCompletion === "DELETE") schedules.delete(key);
  };

  const operations = {
    CreateSchedule(input: CreateScheduleCommandInput) {
      if (schedules.has(keyOf(input.Name, input.GroupName)))
        throw new AwsError("ConflictException", `Schedule ${input.Name} already exists.`, 409);
      return { ScheduleArn: put(input).arn };
    },
    UpdateSchedule(input: CreateScheduleCommandInput) {
      scheduleNamed(input.Name, input.GroupName);
      return { ScheduleArn: put(input).arn };
    },
    GetSchedule(input: { Name?: string; GroupName?: string }) {
      const { arn, createdAt, ClientToken: _token, ...settings } = scheduleNamed(input.Name, input.GroupName);
      return {
        ...settings,
        Arn: arn,
        CreationDate: createdAt,
        State: settings.State ?? "ENABLED",
        GroupName: settings.GroupName ?? "default",
      };
    },
    DeleteSchedule(input: { Name?: string; GroupName?: string }) {
      scheduleNamed(input.Name, input.GroupName);
      schedules.delete(keyOf(input.Name, input.GroupName));
      tasks.cancel("run", keyOf(input.Name, input.GroupName));
      return {};
    },
    ListSchedules(input: ListSchedulesCommandInput) {
      const own = [...schedules.values()].filter(({ Name }) => Name?.startsWith(input.NamePrefix ?? ""));
      return {
        Schedules: own.map(({ arn, Name, GroupName = "default", State = "ENABLED", Target, createdAt }) => ({
          Arn: arn,
          Name,
          GroupName,
          State,
          CreationDate: createdAt,
          Target: { Arn: Target?.Arn },
        })),
      };
    },
  };

  /** Invokes the target of a schedule when its time has come. */
  const fire = async (name: string, group?: string) => {
    const { Target } = scheduleNamed(name, group);
    const [, at = region] = /^arn:aws:lambda:([^:]+):/.exec(Target?.Arn ?? "") ?? [];
    await world.service("lambda", at).operations.Invoke({
      FunctionName: Target?.Arn,
      InvocationType: "Event",
      Payload: Buffer.from(Target?.Input ?? "{}"),
    });
  };
  return { operations, schedules, fire };
}
