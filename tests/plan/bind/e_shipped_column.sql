SELECT latancy FROM softirq
